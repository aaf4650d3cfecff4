interface Model {
  save(): string;
}

export const User = class implements Model {
  save(): string {
    return persist('user');
  }
};

export function defineModel(table: string) {
  return class Generated implements Model {
    static table = table;
    save(): string {
      return persist(Generated.table);
    }
    static create(): Generated {
      return new Generated();
    }
  };
}

function persist(table: string): string {
  return table;
}
