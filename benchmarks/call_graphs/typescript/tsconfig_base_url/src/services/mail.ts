import { render } from 'templates/letter';

export function send(to: string): string {
  return `${to}: ${render()}`;
}
