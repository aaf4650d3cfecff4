import { Session } from './session';

let current: Session | null = null;

function cleanUp(): void {}

export function title(): string {
  return current?.profile?.name() ?? fallback();
}

function fallback(): string {
  return 'nobody';
}

title();
current = new Session();
current.login();
current.onClose = cleanUp;
title();
current!.close();
