import * as users from './users';

users.findAll();
users.count();
