export * from './users';
export { hash as hashPassword } from './crypto';
export { default as Logger } from './logger';
