import { createUser, hashPassword, Logger } from './lib';

export async function signUp(name: string): Promise<void> {
  const log = new Logger('auth');
  const user = createUser(name);
  log.info(await hashPassword(user.name));
}

void signUp('ann');
