mod outer {
    pub fn run() -> i32 {
        helper() + inner::run() + self::inner::deep::run()
    }

    fn helper() -> i32 {
        1
    }

    pub mod inner {
        pub fn run() -> i32 {
            super::helper() + crate::helper()
        }

        pub mod deep {
            pub fn run() -> i32 {
                super::super::helper()
            }
        }
    }
}

fn helper() -> i32 {
    100
}

fn main() {
    println!("{} {}", outer::run(), helper());
}
