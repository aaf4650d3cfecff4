import { Id } from './id';

export function same(): boolean {
  const id = Id.next();
  return id.equals(Id.from('101'));
}

same();
