import { useAuth } from './auth';

export function Login() {
  const auth = useAuth();
  return <p>{auth.login('ann')}</p>;
}
