import { handlers } from './handlers';

export function dispatch(kind: string, payload: string): string {
  const handler = handlers[kind];
  if (!handler) return unknown(kind);
  return handler(payload);
}

const unknown = (kind: string): string => `? ${kind}`;

dispatch('create', 'a');
dispatch('delete', 'a');
dispatch('rename', 'a');
dispatch('none', 'a');
handlers.create('b');
