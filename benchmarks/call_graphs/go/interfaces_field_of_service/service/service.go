package service

import "example.com/service/repo"

type Users struct {
	repo repo.Repository
}

func New(r repo.Repository) *Users { return &Users{repo: r} }

func (u *Users) Rename(id int, name string) error {
	user, err := u.repo.Find(id)
	if err != nil {
		return err
	}
	user.Name = name
	return u.repo.Save(user)
}
