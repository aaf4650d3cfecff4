import { renderToString } from 'react-dom/server';
import { AuthProvider } from './auth';
import { Login } from './Login';

const render = (): string =>
  renderToString(
    <AuthProvider>
      <Login />
    </AuthProvider>,
  );

render();
