import { logged, route } from './log';

class Users {
  @logged
  list(): string[] {
    return this.load();
  }

  @route('/users')
  create(): void {
    this.load();
  }

  private load(): string[] {
    return [];
  }
}

const users = new Users();
users.list();
users.create();
