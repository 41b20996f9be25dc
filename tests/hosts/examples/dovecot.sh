# shellcheck shell=bash disable=SC2034,SC2154
packages='dovecot-core dovecot-auth-lua' programs='dovecot doveadm' lua=5.4 needs=root

try() {
    sed -i 's/^import_environment = .*/& HOST_FOLDER ROOT/' dovecot.conf
    start dovecot -F -c dovecot.conf
    until_true test -S run/auth-userdb
    expect 'auth succeeded' password 0.25
    doveadm -c dovecot.conf reload
    expect 'auth succeeded' password 0.25
    expect 'auth failed' password 0.7
    stop TERM
}
password() { doveadm -c dovecot.conf auth test user "$1" || true; }
