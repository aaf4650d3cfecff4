import type { Store } from './store';

export class Cache {
  constructor(private readonly store: Store) {}

  remember(key: string, compute: () => string): string {
    const known = this.store.get(key);
    if (known !== undefined) return known;
    const value = compute();
    this.store.set(key, value);
    return value;
  }
}
