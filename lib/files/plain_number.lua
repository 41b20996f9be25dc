-- Numbers in files have a point. The locale of a host may print a comma instead.

return function(format, number) return (format:format(number):gsub(',', '.')) end
