import { open } from '$lib';
import { Session } from '$lib/session';

function boot(): string {
  const session = new Session(open());
  return session.token();
}

boot();
