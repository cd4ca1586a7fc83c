import { useShortcuts } from '../use-shortcuts.js';

const links = () => [...document.querySelectorAll<HTMLAnchorElement>('table.keys tbody a.name')];

function move(step: number): void {
  const all = links();
  const present = all.findIndex((link) => link.closest('tr')?.contains(document.activeElement) === true);
  const next = all[present < 0 ? 0 : Math.min(Math.max(present + step, 0), all.length - 1)];
  next?.focus();
  next?.closest('tr')?.scrollIntoView({ block: 'nearest' });
}

/** Moves through the rows of the list with `j` and `k`, and selects one with `x`. Enter opens the focused link. */
export function useRowKeys(): void {
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    x: () => document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('td.select input')?.click(),
  });
}
