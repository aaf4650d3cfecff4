import { raw, sql } from './sql';

function find(id: number): string {
  const statement = sql`select * from users where id = ${wrap(id)}`;
  return statement.text + raw('x').text;
}

const wrap = (id: number): number => id;

find(1);
