import { PagedQuery, Query } from './query';

export function latest(): string {
  return new PagedQuery()
    .select('*')
    .where('new')
    .limit(10)
    .build();
}

export function all(): string {
  const query = new Query();
  query.select('*');
  return query.build();
}

latest();
all();
