export { addDays } from './arithmetic';

export function today(): Date {
  return new Date(0);
}
