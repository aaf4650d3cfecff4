import { home } from '#env';
import { join } from '#internal/paths';

export const configFile = (): string => join(home(), '.toolrc');

configFile();
