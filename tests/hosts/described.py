"""described.py - a binding that is generated from ltensor.json alone: ctypes structures, enums and prototypes of all
functions, and a Python function for each operation, with its defaults. Usage: described.py LTENSOR_JSON LIBLTENSOR_SO"""
import ctypes
import json
import sys

description = json.load(open(sys.argv[1]))
library = ctypes.CDLL(sys.argv[2])

NUMBERS = {'int': ctypes.c_int, 'bool': ctypes.c_bool, 'size_t': ctypes.c_size_t, 'double': ctypes.c_double, 'float': ctypes.c_float,
           'int8_t': ctypes.c_int8, 'int32_t': ctypes.c_int32, 'uint32_t': ctypes.c_uint32, 'int64_t': ctypes.c_int64,
           'uint64_t': ctypes.c_uint64, 'long long': ctypes.c_longlong, 'unsigned': ctypes.c_uint, 'void': None}
structs, constants = {}, {c['name']: c['value'] for c in description['constants']}
enums = {e['name'] for e in description['enums']}
functions_of_hosts = {t['name'] for t in description['types']}
for enum in description['enums']:
    constants.update({v['name']: v['value'] for v in enum['values']})


def type_of(entry):
    """The ctypes type of a field, a parameter or a result."""
    text = entry['type'] if isinstance(entry, dict) else entry
    count = entry.get('count') if isinstance(entry, dict) else None
    text = text.replace('const', '').strip()
    if text in ('function', 'struct'):
        return ctypes.c_void_p
    if text == 'union':
        return type(entry['name'], (ctypes.Union,), {'_fields_': [(f['name'], type_of(f)) for f in entry['fields']]})
    if text.endswith('*'):
        inner = text[:-1].strip()
        if inner == 'char':
            return ctypes.c_char_p
        if inner.endswith('*') or inner in structs or inner in NUMBERS and inner != 'void':
            return ctypes.POINTER(type_of(inner))
        return ctypes.c_void_p
    found = ctypes.c_int if text in enums else ctypes.c_void_p if text in functions_of_hosts else structs.get(text) or NUMBERS[text]
    return found * count if count else found


for struct in description['structs']:
    structs[struct['name']] = type(struct['name'], (ctypes.Structure,), {})
for struct in description['structs']:
    if 'fields' in struct:
        structs[struct['name']]._fields_ = [(f['name'], type_of(f)) for f in struct['fields']]

declared = 0
for function in description['functions']:
    if function['library'] != 'ltensor':
        continue
    f = getattr(library, function['name'])
    f.argtypes = [type_of(p) for p in function['parameters']]
    f.restype = type_of(function['result'])
    declared += 1


class Error(Exception):
    pass


def check(status):
    if status != constants['LT_OK']:
        raise Error(library.lt_error_message().decode())


Tensor = ctypes.POINTER(structs['lt_tensor'])


def scalar(number):
    from_number = library.lt_scalar_from_float if isinstance(number, float) else library.lt_scalar_from_int
    return from_number(number)


def converted(parameter, value):
    """A Python value as an argument of the type that the description names."""
    kind = parameter['type']
    if value is None:
        return constants['LT_DTYPE_NONE'] if kind == 'Dtype' else None
    if kind in ('Size', 'Dims'):
        return ctypes.byref(structs['lt_dims'](len(value), (ctypes.c_int64 * constants['LT_MAX_DIMS'])(*value)))
    if kind == 'Scalar':
        return ctypes.byref(scalar(value)) if parameter.get('optional') else scalar(value)
    if kind in ('int', 'Dim', 'Index', 'float', 'bool') and parameter.get('optional'):
        return ctypes.byref(type_of(parameter['c_type'])._type_(value))
    return value.encode() if kind == 'string' else value


def caller(operation):
    """A Python function for an operation: results are returned, or written to `out`."""
    parameters, results = operation['parameters'], operation['results']
    types = [type_of(p['c_type']) for p in parameters]
    new = getattr(library, operation['function'])
    new.argtypes, new.restype = types + [type_of(r['c_type']) for r in results], ctypes.c_int
    into = getattr(library, operation['out']) if 'out' in operation else None
    if into:
        into.argtypes, into.restype = types + [Tensor] * len(results), ctypes.c_int

    def call(*values, out=None, **named):
        arguments = []
        for i, p in enumerate(parameters):
            value = values[i] if i < len(values) else named[p['name']] if p['name'] in named else p['default']
            arguments.append(converted(p, value))
        if out is not None:
            check(into(*arguments, *out))
            return out
        made = [type_of(r['c_type'])._type_() for r in results]
        check(new(*arguments, *[ctypes.byref(m) for m in made]))
        return made
    return call


ops = {}
for operation in description['operations']:
    ops.setdefault(operation['function'], caller(operation))
    for form in ('function', 'in_place', 'out'):
        if form in operation:
            getattr(library, operation[form])


def values_of(tensor):
    numbers = (ctypes.c_float * library.lt_tensor_numel(tensor))()
    check(library.lt_tensor_copy_to(tensor, numbers, ctypes.sizeof(numbers)))
    return list(numbers)


x, = ops['lt_arange'](0, 6, 1, constants['LT_FLOAT32'])
matrix, = ops['lt_reshape'](x, [2, 3])
total, = ops['lt_sum'](matrix)
assert values_of(total) == [15.0]
sums, = ops['lt_sum_dim'](matrix, [0])
assert values_of(sums) == [3.0, 5.0, 7.0]
values, indices = ops['lt_topk'](matrix, 1)
assert values_of(values) == [2.0, 5.0]
filled, = ops['lt_full']([2, 3], 7.0, constants['LT_FLOAT32'])
ops['lt_add'](total, matrix, out=[filled])
assert values_of(filled) == [15.0, 16.0, 17.0, 18.0, 19.0, 20.0]
clamped, = ops['lt_clamp'](matrix, max=2)
assert values_of(clamped) == [0.0, 1.0, 2.0, 2.0, 2.0, 2.0]
try:
    ops['lt_reshape'](matrix, [4])
    raise AssertionError('a wrong shape was accepted')
except Error as error:
    assert "shape '[4]' is invalid" in str(error)
print(len(ops), 'operations,', declared, 'functions')
