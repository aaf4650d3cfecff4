export class Connection {
  async begin(): Promise<void> {}
  async commit(): Promise<void> {}
  async rollback(): Promise<void> {}
}

export class Pool {
  private idle: Connection[] = [];

  async acquire(): Promise<Connection> {
    return this.idle.pop() ?? this.open();
  }

  release(connection: Connection): void {
    this.idle.push(connection);
  }

  private async open(): Promise<Connection> {
    return new Connection();
  }
}

export async function inTransaction<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await pool.acquire();
  try {
    await connection.begin();
    const result = await work(connection);
    await connection.commit();
    return result;
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    pool.release(connection);
  }
}
