local network = require 'network'

-- Accepts the passwords that a network finds close enough to the square of 0.5.
function auth_password_verify(request, password)
  network.train(100)
  if math.abs(network.predict(0.5) - tonumber(password)) < 0.05 then
    return dovecot.auth.PASSDB_RESULT_OK, {}
  end
  return dovecot.auth.PASSDB_RESULT_PASSWORD_MISMATCH, 'not close enough'
end

function auth_userdb_lookup(request)
  return dovecot.auth.USERDB_RESULT_USER_UNKNOWN, 'no such user'
end
