import { type Connection, inTransaction, Pool } from './pool';

const pool = new Pool();

async function transfer(connection: Connection): Promise<number> {
  void connection;
  return check(1);
}

function check(amount: number): number {
  if (amount > 1) throw new Error('too much');
  return amount;
}

async function main(): Promise<void> {
  await inTransaction(pool, transfer);
  await inTransaction(pool, async () => check(2)).catch(() => 0);
}

void main();
