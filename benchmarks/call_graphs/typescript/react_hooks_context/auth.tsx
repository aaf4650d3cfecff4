import { createContext, type ReactNode, useContext } from 'react';

class AuthService {
  login(name: string): string {
    return this.remember(name);
  }
  private remember(name: string): string {
    return name;
  }
}

const AuthContext = createContext<AuthService>(new AuthService());

export function AuthProvider({ children }: { children: ReactNode }) {
  const service = createService();
  return <AuthContext.Provider value={service}>{children}</AuthContext.Provider>;
}

export const useAuth = (): AuthService => useContext(AuthContext);

function createService(): AuthService {
  return new AuthService();
}
