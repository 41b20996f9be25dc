CREATE EXTENSION plluau;

CREATE FUNCTION train(steps integer) RETURNS double precision AS $$
  return require 'network'.train(steps)
$$ LANGUAGE plluau;

CREATE FUNCTION predict(number double precision) RETURNS double precision AS $$
  return require 'network'.predict(number)
$$ LANGUAGE plluau;
