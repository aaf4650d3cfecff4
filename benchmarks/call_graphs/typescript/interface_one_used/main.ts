import { Cache } from './cache';
import { MemoryStore } from './store';

function slow(): string {
  return 'done';
}

const cache = new Cache(new MemoryStore());
cache.remember('a', slow);
