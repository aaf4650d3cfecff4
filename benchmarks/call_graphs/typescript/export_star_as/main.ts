import * as api from './api';
import { posts } from './api';

function page(): string[] {
  api.users.remove('ann');
  return [...posts.list(), ...api.users.list()];
}

page();
