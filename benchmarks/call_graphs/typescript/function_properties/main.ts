import { http } from './http';

export function load(): string {
  return http('/a') + http.get('/b');
}

load();
