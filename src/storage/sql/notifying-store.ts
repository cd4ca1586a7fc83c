import type { KeyStore } from '../../keys/ports.js';

/** The same store, which calls back after every commit that has added to a history. */
export function withChangeNotifications<Store extends Pick<KeyStore, 'update' | 'add'>>(
  store: Store,
  onChange: () => void,
): Store {
  return {
    ...store,
    update: async (...change) => {
      const done = await store.update(...change);
      onChange();
      return done;
    },
    add: async (keys) => {
      const done = await store.add(keys);
      onChange();
      return done;
    },
  };
}
