import { OrderService, Repository } from './service';

new OrderService(new Repository()).confirm(7);
