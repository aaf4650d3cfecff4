import config from './config';
import currentTime from './clock';
import retry from './retry';

async function fetchTime(): Promise<number> {
  return currentTime();
}

export async function start(): Promise<string> {
  await retry(3, fetchTime);
  return config.url();
}

void start();
