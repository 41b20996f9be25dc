# shellcheck shell=bash disable=SC2034,SC2154
packages='postgresql-15 postgresql-15-pllua' programs=pg_ctlcluster lua=5.3

try() {
    bin=/usr/lib/postgresql/15/bin
    PGUSER=postgres PGHOST=127.0.0.1 PGPORT=$port PGDATABASE=postgres
    export PGUSER PGHOST PGPORT PGDATABASE
    as=
    if [ "$(id -u)" = 0 ]; then
        chown -R postgres .
        as='setpriv --reuid=postgres --regid=postgres --clear-groups'
    fi
    $as $bin/initdb -D data -U postgres -A trust --no-sync >/dev/null
    $as cp postgresql.conf data
    # shellcheck disable=SC2086
    start $as $bin/postgres -D data
    until_true psql -c 'SELECT 1'
    psql -q -f network.sql
    expect 'loss true, value true' psql -At -c "SELECT 'loss ' || (train(300) < 0.01) || ', value ' || (abs(predict(0.5) - 0.25) < 0.05)"
    kill -HUP "$server" # reads its configuration
    expect 'value true' psql -At -c "SELECT 'value ' || (abs(predict(0.5) + 0.1003) < 0.001)" # another process has another network
    stop INT
}
