export class Profile {
  name(): string {
    return 'ann';
  }
}

export class Session {
  profile?: Profile;
  onClose?: () => void;

  login(): void {
    this.profile = new Profile();
  }

  close(): void {
    this.onClose?.();
  }
}
