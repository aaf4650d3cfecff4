package repo

type User struct{ Name string }

type Repository interface {
	Find(id int) (*User, error)
	Save(u *User) error
}

type SQL struct{ dsn string }

func NewSQL(dsn string) *SQL { return &SQL{dsn: dsn} }

func (s *SQL) Find(id int) (*User, error) { return s.query(id) }
func (s *SQL) Save(u *User) error         { return nil }

func (s *SQL) query(id int) (*User, error) { return &User{Name: "u"}, nil }
