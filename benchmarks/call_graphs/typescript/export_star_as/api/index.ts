export * as users from './users';
export * as posts from './posts';
