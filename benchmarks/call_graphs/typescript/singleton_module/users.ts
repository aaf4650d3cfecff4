import { db, getDatabase } from './db';

export const findAll = (): string[] => db.query('all');

export function count(): number {
  return getDatabase().query('count').length;
}
