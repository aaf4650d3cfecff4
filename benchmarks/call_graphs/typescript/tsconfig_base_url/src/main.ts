import { send } from 'services/mail';

send('ann');
