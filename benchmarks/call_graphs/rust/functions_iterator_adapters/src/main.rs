#[derive(Clone)]
struct Order {
    items: Vec<Item>,
}

#[derive(Clone)]
struct Item {
    price: u32,
}

impl Item {
    fn cost(&self) -> u32 {
        tax(self.price)
    }

    fn is_cheap(&self) -> bool {
        self.price < 10
    }
}

impl Order {
    fn total(&self) -> u32 {
        self.items.iter().map(|item| item.cost()).sum()
    }

    fn cheap(&self) -> Vec<Item> {
        self.items.iter().filter(|i| i.is_cheap()).cloned().collect()
    }
}

fn tax(price: u32) -> u32 {
    price + 1
}

fn main() {
    let orders = vec![Order { items: vec![Item { price: 3 }, Item { price: 30 }] }];
    for (index, order) in orders.iter().enumerate() {
        println!("{} {}", index, order.total());
    }
    let first = orders[0].cheap();
    println!("{}", first.len());
    let biggest = orders.iter().max_by_key(|order| order.total()).unwrap();
    println!("{}", biggest.cheap()[0].cost());
    orders.into_iter().for_each(|order| println!("{}", order.total()));
}
