import { slug } from './util/index.js';

async function later(): Promise<string> {
  const { lower } = await import('./util/text.js');
  return lower('A');
}

slug('A b');
void later();
