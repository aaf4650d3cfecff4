import { Client, type Reply } from './client';

const client = new Client();

function bodyOf(reply: Reply): string {
  return reply.body;
}

function recover(): string {
  return '';
}

async function both(): Promise<string[]> {
  return Promise.all([client.get('a').then(bodyOf), client.get('').then(bodyOf).catch(recover)]);
}

async function main(): Promise<void> {
  const [first] = await both();
  console.log(first);
}

main().finally(() => recover());
