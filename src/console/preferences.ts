/** How the console looks for this user. Stored in the browser; it contains no secret. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  readonly density: 'comfortable' | 'compact';
}

const name = 'keyfront-console';
const defaults: Preferences = { theme: 'system', density: 'comfortable' };

/** Reads the stored preferences. */
export function readPreferences(): Preferences {
  try {
    const stored = JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Preferences>;
    return {
      theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : defaults.theme,
      density: stored.density === 'compact' ? stored.density : defaults.density,
    };
  } catch {
    // The browser stores nothing for this page.
    return defaults;
  }
}

/** Applies the preferences to the page, for which page.css has attributes. */
export function applyPreferences({ theme, density }: Preferences): void {
  const { dataset } = document.documentElement;
  dataset['theme'] = theme;
  dataset['density'] = density;
}

/** Stores the preferences and applies them. */
export function savePreferences(preferences: Preferences): void {
  applyPreferences(preferences);
  try {
    localStorage.setItem(name, JSON.stringify(preferences));
  } catch {
    // They hold until the page is closed.
  }
}
