data_path = '/srv/ltensor/data'
pidfile = '/srv/ltensor/prosody.pid'
plugin_paths = { '/srv/ltensor' }
log = { info = '/srv/ltensor/prosody.log' }
modules_enabled = { 'http', 'network', 'posix' }
http_ports = { 8080 }
http_interfaces = { '127.0.0.1' }
https_ports = {}
http_default_host = 'localhost'
c2s_ports, s2s_ports = {}, {}

VirtualHost 'localhost'
