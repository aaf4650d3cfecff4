import { pipe } from './pipeline';
import { Lower, Upper } from './types';

export const shout = (text: string): string => pipe(new Upper(), [new Lower()], text);

shout('hey');
