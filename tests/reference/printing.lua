-- Printed forms of tensors.
-- Written by generate.py from PyTorch 2.13.0; do not edit.
return {
{dtype='bool',shape={},data={true},printed='tensor(True)'},
{dtype='bool',shape={3},data={true,false,true},printed='tensor([ True, False,  True])'},
{dtype='bool',shape={2,2},data={false,true,true,true},printed=[==[
tensor([[False,  True],
        [ True,  True]])
]==]},
{dtype='bool',shape={2,2,1},data={true,false,false,true},printed=[==[
tensor([[[ True],
         [False]],

        [[False],
         [ True]]])
]==]},
{dtype='bool',shape={0},data={},printed='tensor([], dtype=torch.bool)'},
{dtype='bool',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.bool)'},
{dtype='bool',shape={2,1,2,2},data={true,true,true,true,true,true,true,true},printed=[==[
tensor([[[[True, True],
          [True, True]]],


        [[[True, True],
          [True, True]]]])
]==]},
{dtype='bool',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.bool)'},
{dtype='uint8',shape={},data={1},printed='tensor(1, dtype=torch.uint8)'},
{dtype='uint8',shape={3},data={1,0,1},printed='tensor([1, 0, 1], dtype=torch.uint8)'},
{dtype='uint8',shape={2,2},data={0,1,1,1},printed=[==[
tensor([[0, 1],
        [1, 1]], dtype=torch.uint8)
]==]},
{dtype='uint8',shape={2,2,1},data={1,0,0,1},printed=[==[
tensor([[[1],
         [0]],

        [[0],
         [1]]], dtype=torch.uint8)
]==]},
{dtype='uint8',shape={0},data={},printed='tensor([], dtype=torch.uint8)'},
{dtype='uint8',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.uint8)'},
{dtype='uint8',shape={2,1,2,2},data={1,1,1,1,1,1,1,1},printed=[==[
tensor([[[[1, 1],
          [1, 1]]],


        [[[1, 1],
          [1, 1]]]], dtype=torch.uint8)
]==]},
{dtype='uint8',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.uint8)'},
{dtype='int8',shape={},data={1},printed='tensor(1, dtype=torch.int8)'},
{dtype='int8',shape={3},data={1,0,1},printed='tensor([1, 0, 1], dtype=torch.int8)'},
{dtype='int8',shape={2,2},data={0,1,1,1},printed=[==[
tensor([[0, 1],
        [1, 1]], dtype=torch.int8)
]==]},
{dtype='int8',shape={2,2,1},data={1,0,0,1},printed=[==[
tensor([[[1],
         [0]],

        [[0],
         [1]]], dtype=torch.int8)
]==]},
{dtype='int8',shape={0},data={},printed='tensor([], dtype=torch.int8)'},
{dtype='int8',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.int8)'},
{dtype='int8',shape={2,1,2,2},data={1,1,1,1,1,1,1,1},printed=[==[
tensor([[[[1, 1],
          [1, 1]]],


        [[[1, 1],
          [1, 1]]]], dtype=torch.int8)
]==]},
{dtype='int8',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.int8)'},
{dtype='int16',shape={},data={1},printed='tensor(1, dtype=torch.int16)'},
{dtype='int16',shape={3},data={1,0,1},printed='tensor([1, 0, 1], dtype=torch.int16)'},
{dtype='int16',shape={2,2},data={0,1,1,1},printed=[==[
tensor([[0, 1],
        [1, 1]], dtype=torch.int16)
]==]},
{dtype='int16',shape={2,2,1},data={1,0,0,1},printed=[==[
tensor([[[1],
         [0]],

        [[0],
         [1]]], dtype=torch.int16)
]==]},
{dtype='int16',shape={0},data={},printed='tensor([], dtype=torch.int16)'},
{dtype='int16',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.int16)'},
{dtype='int16',shape={2,1,2,2},data={1,1,1,1,1,1,1,1},printed=[==[
tensor([[[[1, 1],
          [1, 1]]],


        [[[1, 1],
          [1, 1]]]], dtype=torch.int16)
]==]},
{dtype='int16',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.int16)'},
{dtype='int32',shape={},data={1},printed='tensor(1, dtype=torch.int32)'},
{dtype='int32',shape={3},data={1,0,1},printed='tensor([1, 0, 1], dtype=torch.int32)'},
{dtype='int32',shape={2,2},data={0,1,1,1},printed=[==[
tensor([[0, 1],
        [1, 1]], dtype=torch.int32)
]==]},
{dtype='int32',shape={2,2,1},data={1,0,0,1},printed=[==[
tensor([[[1],
         [0]],

        [[0],
         [1]]], dtype=torch.int32)
]==]},
{dtype='int32',shape={0},data={},printed='tensor([], dtype=torch.int32)'},
{dtype='int32',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.int32)'},
{dtype='int32',shape={2,1,2,2},data={1,1,1,1,1,1,1,1},printed=[==[
tensor([[[[1, 1],
          [1, 1]]],


        [[[1, 1],
          [1, 1]]]], dtype=torch.int32)
]==]},
{dtype='int32',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.int32)'},
{dtype='int64',shape={},data={1},printed='tensor(1)'},
{dtype='int64',shape={3},data={1,0,1},printed='tensor([1, 0, 1])'},
{dtype='int64',shape={2,2},data={0,1,1,1},printed=[==[
tensor([[0, 1],
        [1, 1]])
]==]},
{dtype='int64',shape={2,2,1},data={1,0,0,1},printed=[==[
tensor([[[1],
         [0]],

        [[0],
         [1]]])
]==]},
{dtype='int64',shape={0},data={},printed='tensor([], dtype=torch.int64)'},
{dtype='int64',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.int64)'},
{dtype='int64',shape={2,1,2,2},data={1,1,1,1,1,1,1,1},printed=[==[
tensor([[[[1, 1],
          [1, 1]]],


        [[[1, 1],
          [1, 1]]]])
]==]},
{dtype='int64',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.int64)'},
{dtype='float16',shape={},data={1.0},printed='tensor(1., dtype=torch.float16)'},
{dtype='float16',shape={3},data={1.0,0.0,1.0},printed='tensor([1., 0., 1.], dtype=torch.float16)'},
{dtype='float16',shape={2,2},data={0.0,1.0,1.0,1.0},printed=[==[
tensor([[0., 1.],
        [1., 1.]], dtype=torch.float16)
]==]},
{dtype='float16',shape={2,2,1},data={1.0,0.0,0.0,1.0},printed=[==[
tensor([[[1.],
         [0.]],

        [[0.],
         [1.]]], dtype=torch.float16)
]==]},
{dtype='float16',shape={0},data={},printed='tensor([], dtype=torch.float16)'},
{dtype='float16',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.float16)'},
{dtype='float16',shape={2,1,2,2},data={1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0},printed=[==[
tensor([[[[1., 1.],
          [1., 1.]]],


        [[[1., 1.],
          [1., 1.]]]], dtype=torch.float16)
]==]},
{dtype='float16',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.float16)'},
{dtype='bfloat16',shape={},data={1.0},printed='tensor(1., dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={3},data={1.0,0.0,1.0},printed='tensor([1., 0., 1.], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2,2},data={0.0,1.0,1.0,1.0},printed=[==[
tensor([[0., 1.],
        [1., 1.]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={2,2,1},data={1.0,0.0,0.0,1.0},printed=[==[
tensor([[[1.],
         [0.]],

        [[0.],
         [1.]]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={0},data={},printed='tensor([], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2,1,2,2},data={1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0},printed=[==[
tensor([[[[1., 1.],
          [1., 1.]]],


        [[[1., 1.],
          [1., 1.]]]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.bfloat16)'},
{dtype='float32',shape={},data={1.0},printed='tensor(1.)'},
{dtype='float32',shape={3},data={1.0,0.0,1.0},printed='tensor([1., 0., 1.])'},
{dtype='float32',shape={2,2},data={0.0,1.0,1.0,1.0},printed=[==[
tensor([[0., 1.],
        [1., 1.]])
]==]},
{dtype='float32',shape={2,2,1},data={1.0,0.0,0.0,1.0},printed=[==[
tensor([[[1.],
         [0.]],

        [[0.],
         [1.]]])
]==]},
{dtype='float32',shape={0},data={},printed='tensor([])'},
{dtype='float32',shape={2,0},data={},printed='tensor([], size=(2, 0))'},
{dtype='float32',shape={2,1,2,2},data={1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0},printed=[==[
tensor([[[[1., 1.],
          [1., 1.]]],


        [[[1., 1.],
          [1., 1.]]]])
]==]},
{dtype='float32',shape={0,3},data={},printed='tensor([], size=(0, 3))'},
{dtype='float64',shape={},data={1.0},printed='tensor(1., dtype=torch.float64)'},
{dtype='float64',shape={3},data={1.0,0.0,1.0},printed='tensor([1., 0., 1.], dtype=torch.float64)'},
{dtype='float64',shape={2,2},data={0.0,1.0,1.0,1.0},printed=[==[
tensor([[0., 1.],
        [1., 1.]], dtype=torch.float64)
]==]},
{dtype='float64',shape={2,2,1},data={1.0,0.0,0.0,1.0},printed=[==[
tensor([[[1.],
         [0.]],

        [[0.],
         [1.]]], dtype=torch.float64)
]==]},
{dtype='float64',shape={0},data={},printed='tensor([], dtype=torch.float64)'},
{dtype='float64',shape={2,0},data={},printed='tensor([], size=(2, 0), dtype=torch.float64)'},
{dtype='float64',shape={2,1,2,2},data={1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0},printed=[==[
tensor([[[[1., 1.],
          [1., 1.]]],


        [[[1., 1.],
          [1., 1.]]]], dtype=torch.float64)
]==]},
{dtype='float64',shape={0,3},data={},printed='tensor([], size=(0, 3), dtype=torch.float64)'},
{dtype='uint8',shape={4},data={0,7,255,0},printed='tensor([  0,   7, 255,   0], dtype=torch.uint8)'},
{dtype='uint8',shape={2,2},data={5,100,12,3},printed=[==[
tensor([[  5, 100],
        [ 12,   3]], dtype=torch.uint8)
]==]},
{dtype='int8',shape={4},data={0,7,127,-128},printed='tensor([   0,    7,  127, -128], dtype=torch.int8)'},
{dtype='int8',shape={2,2},data={5,100,12,3},printed=[==[
tensor([[  5, 100],
        [ 12,   3]], dtype=torch.int8)
]==]},
{dtype='int8',shape={3},data={-1,10,-100},printed='tensor([  -1,   10, -100], dtype=torch.int8)'},
{dtype='int16',shape={4},data={0,7,32767,-32768},printed='tensor([     0,      7,  32767, -32768], dtype=torch.int16)'},
{dtype='int16',shape={2,2},data={5,100,12,3},printed=[==[
tensor([[  5, 100],
        [ 12,   3]], dtype=torch.int16)
]==]},
{dtype='int16',shape={3},data={-1,10,-100},printed='tensor([  -1,   10, -100], dtype=torch.int16)'},
{dtype='int32',shape={4},data={0,7,2147483647,-2147483648},printed='tensor([          0,           7,  2147483647, -2147483648], dtype=torch.int32)'},
{dtype='int32',shape={2,2},data={5,100,12,3},printed=[==[
tensor([[  5, 100],
        [ 12,   3]], dtype=torch.int32)
]==]},
{dtype='int32',shape={3},data={-1,10,-100},printed='tensor([  -1,   10, -100], dtype=torch.int32)'},
{dtype='int64',shape={4},data={0,7,9223372036854775807,0x8000000000000000},printed=[==[
tensor([                   0,                    7,  9223372036854775807,
        -9223372036854775808])
]==]},
{dtype='int64',shape={2,2},data={5,100,12,3},printed=[==[
tensor([[  5, 100],
        [ 12,   3]])
]==]},
{dtype='int64',shape={3},data={-1,10,-100},printed='tensor([  -1,   10, -100])'},
{dtype='float32',shape={2,0,3},data={},printed='tensor([], size=(2, 0, 3))'},
{dtype='int32',shape={0,0},data={},printed='tensor([], size=(0, 0), dtype=torch.int32)'},
{dtype='bool',shape={},data={true},printed='tensor(True)'},
{dtype='bool',shape={4},data={true,false,false,true},printed='tensor([ True, False, False,  True])'},
{dtype='float32',shape={3},data={1.0,2.0,3.0},printed='tensor([1., 2., 3.])'},
{dtype='float32',shape={2},data={1.5,2.0},printed='tensor([1.5000, 2.0000])'},
{dtype='float32',shape={3},data={0.100000001,0.200000003,0.300000012},printed='tensor([0.1000, 0.2000, 0.3000])'},
{dtype='float32',shape={2},data={-1.0,1.0},printed='tensor([-1.,  1.])'},
{dtype='float32',shape={2},data={-0.0,0.0},printed='tensor([-0., 0.])'},
{dtype='float32',shape={1},data={9.99999994e-09},printed='tensor([1.0000e-08])'},
{dtype='float32',shape={1},data={100000000.0},printed='tensor([100000000.])'},
{dtype='float32',shape={2},data={9.99999994e-09,100000000.0},printed='tensor([1.0000e-08, 1.0000e+08])'},
{dtype='float32',shape={2},data={9.99999975e-05,1.0},printed='tensor([1.0000e-04, 1.0000e+00])'},
{dtype='float32',shape={2},data={9.89999971e-05,0.5},printed='tensor([9.9000e-05, 5.0000e-01])'},
{dtype='float32',shape={2},data={1.0,1000.0},printed='tensor([   1., 1000.])'},
{dtype='float32',shape={2},data={1.0,1001.5},printed='tensor([1.0000e+00, 1.0015e+03])'},
{dtype='float32',shape={2},data={0.00100000005,1.00100005},printed='tensor([1.0000e-03, 1.0010e+00])'},
{dtype='float32',shape={2},data={100000000.0,1.0},printed='tensor([1.0000e+08, 1.0000e+00])'},
{dtype='float32',shape={2},data={100000000.0,200000000.0},printed='tensor([1.0000e+08, 2.0000e+08])'},
{dtype='float32',shape={1},data={123456.789},printed='tensor([123456.7891])'},
{dtype='float32',shape={2},data={1234567.0,0.5},printed='tensor([1.2346e+06, 5.0000e-01])'},
{dtype='float32',shape={1},data={0/0},printed='tensor([nan])'},
{dtype='float32',shape={2},data={0/0,1.0},printed='tensor([nan, 1.])'},
{dtype='float32',shape={3},data={0/0,1.5,-2.25},printed='tensor([    nan,  1.5000, -2.2500])'},
{dtype='float32',shape={2},data={1/0,1.0},printed='tensor([inf, 1.])'},
{dtype='float32',shape={3},data={1/0,-1/0,0/0},printed='tensor([inf, -inf, nan])'},
{dtype='float32',shape={2},data={-1/0,0.5},printed='tensor([  -inf, 0.5000])'},
{dtype='float32',shape={1},data={9.9999461e-41},printed='tensor([9.9999e-41])'},
{dtype='float32',shape={2},data={1.40129846e-45,1.0},printed='tensor([1.4013e-45, 1.0000e+00])'},
{dtype='float32',shape={1},data={3.39999995e+38},printed='tensor([3.4000e+38])'},
{dtype='float32',shape={1},data={1e+10},printed='tensor([1.0000e+10])'},
{dtype='float32',shape={2},data={1e+10,1.00000001e-10},printed='tensor([1.0000e+10, 1.0000e-10])'},
{dtype='float32',shape={1},data={12345.0},printed='tensor([12345.])'},
{dtype='float32',shape={2},data={99999.0,-3.0},printed='tensor([ 9.9999e+04, -3.0000e+00])'},
{dtype='float32',shape={1},data={100000.0},printed='tensor([100000.])'},
{dtype='float32',shape={2},data={0.999989986,0.999998987},printed='tensor([1.0000, 1.0000])'},
{dtype='float32',shape={1},data={9.99995041},printed='tensor([10.0000])'},
{dtype='float32',shape={2},data={4.99999987e-05,0.100000001},printed='tensor([5.0000e-05, 1.0000e-01])'},
{dtype='float32',shape={3},data={2.5,3.5,4.5},printed='tensor([2.5000, 3.5000, 4.5000])'},
{dtype='float32',shape={2},data={1.00004995,1.00014997},printed='tensor([1.0000, 1.0001])'},
{dtype='float32',shape={1},data={0.0},printed='tensor([0.])'},
{dtype='float32',shape={3},data={0.0,0.0,9.99999975e-06},printed='tensor([0.0000e+00, 0.0000e+00, 1.0000e-05])'},
{dtype='float32',shape={2},data={9.99999975e-06,1.99999995e-05},printed='tensor([1.0000e-05, 2.0000e-05])'},
{dtype='float32',shape={2},data={100000.0,1000000.0},printed='tensor([ 100000., 1000000.])'},
{dtype='float32',shape={2},data={1000.0,0.00100000005},printed='tensor([1.0000e+03, 1.0000e-03])'},
{dtype='float32',shape={2},data={65504.0,0.100000001},printed='tensor([6.5504e+04, 1.0000e-01])'},
{dtype='float32',shape={2},data={-123.456001,7.80000019},printed='tensor([-123.4560,    7.8000])'},
{dtype='float32',shape={2},data={0.333333343,0.666666687},printed='tensor([0.3333, 0.6667])'},
{dtype='float32',shape={2},data={10000000.0,1.0},printed='tensor([1.0000e+07, 1.0000e+00])'},
{dtype='float32',shape={1},data={16777216.0},printed='tensor([16777216.])'},
{dtype='float32',shape={1},data={0.0},printed='tensor([0.])'},
{dtype='float32',shape={1},data={1/0},printed='tensor([inf])'},
{dtype='float32',shape={2},data={0.0,1/0},printed='tensor([0., inf])'},
{dtype='float32',shape={1},data={314159.25},printed='tensor([314159.2500])'},
{dtype='float32',shape={2},data={-9.99999994e-09,9.99999994e-09},printed='tensor([-1.0000e-08,  1.0000e-08])'},
{dtype='float32',shape={3},data={3.0,0/0,1000.0},printed='tensor([   3.,   nan, 1000.])'},
{dtype='float64',shape={3},data={1.0,2.0,3.0},printed='tensor([1., 2., 3.], dtype=torch.float64)'},
{dtype='float64',shape={2},data={-1.0,1.0},printed='tensor([-1.,  1.], dtype=torch.float64)'},
{dtype='float64',shape={1},data={100000000.0},printed='tensor([100000000.], dtype=torch.float64)'},
{dtype='float64',shape={2},data={9.9e-05,0.5},printed='tensor([9.9000e-05, 5.0000e-01], dtype=torch.float64)'},
{dtype='float64',shape={2},data={0.001,1.001},printed='tensor([1.0000e-03, 1.0010e+00], dtype=torch.float64)'},
{dtype='float64',shape={1},data={123456.789},printed='tensor([123456.7890], dtype=torch.float64)'},
{dtype='float64',shape={2},data={0/0,1.0},printed='tensor([nan, 1.], dtype=torch.float64)'},
{dtype='float64',shape={3},data={1/0,-1/0,0/0},printed='tensor([inf, -inf, nan], dtype=torch.float64)'},
{dtype='float64',shape={2},data={1e-45,1.0},printed='tensor([1.0000e-45, 1.0000e+00], dtype=torch.float64)'},
{dtype='float64',shape={2},data={10000000000.0,1e-10},printed='tensor([1.0000e+10, 1.0000e-10], dtype=torch.float64)'},
{dtype='float64',shape={1},data={100000.0},printed='tensor([100000.], dtype=torch.float64)'},
{dtype='float64',shape={2},data={5e-05,0.1},printed='tensor([5.0000e-05, 1.0000e-01], dtype=torch.float64)'},
{dtype='float64',shape={1},data={0.0},printed='tensor([0.], dtype=torch.float64)'},
{dtype='float64',shape={2},data={100000.0,1000000.0},printed='tensor([ 100000., 1000000.], dtype=torch.float64)'},
{dtype='float64',shape={2},data={-123.456,7.8},printed='tensor([-123.4560,    7.8000], dtype=torch.float64)'},
{dtype='float64',shape={1},data={16777216.0},printed='tensor([16777216.], dtype=torch.float64)'},
{dtype='float64',shape={2},data={1e-300,1e+300},printed='tensor([1.0000e-300, 1.0000e+300], dtype=torch.float64)'},
{dtype='float64',shape={3},data={3.0,0/0,1000.0},printed='tensor([   3.,   nan, 1000.], dtype=torch.float64)'},
{dtype='float16',shape={2},data={1.5,2.0},printed='tensor([1.5000, 2.0000], dtype=torch.float16)'},
{dtype='float16',shape={2},data={-0.0,0.0},printed='tensor([-0., 0.], dtype=torch.float16)'},
{dtype='float16',shape={2},data={0.0,1/0},printed='tensor([0., inf], dtype=torch.float16)'},
{dtype='float16',shape={2},data={1.0,1000.0},printed='tensor([   1., 1000.], dtype=torch.float16)'},
{dtype='float16',shape={2},data={1/0,1.0},printed='tensor([inf, 1.], dtype=torch.float16)'},
{dtype='float16',shape={2},data={1/0,0.5},printed='tensor([   inf, 0.5000], dtype=torch.float16)'},
{dtype='float16',shape={3},data={0/0,1.5,-2.25},printed='tensor([    nan,  1.5000, -2.2500], dtype=torch.float16)'},
{dtype='float16',shape={2},data={-1/0,0.5},printed='tensor([  -inf, 0.5000], dtype=torch.float16)'},
{dtype='float16',shape={1},data={1/0},printed='tensor([inf], dtype=torch.float16)'},
{dtype='float16',shape={1},data={12344.0},printed='tensor([12344.], dtype=torch.float16)'},
{dtype='float16',shape={2},data={1.0,1.0},printed='tensor([1., 1.], dtype=torch.float16)'},
{dtype='float16',shape={3},data={2.5,3.5,4.5},printed='tensor([2.5000, 3.5000, 4.5000], dtype=torch.float16)'},
{dtype='float16',shape={3},data={0.0,0.0,1.00136e-05},printed='tensor([0.0000e+00, 0.0000e+00, 1.0014e-05], dtype=torch.float16)'},
{dtype='float16',shape={2},data={1000.0,0.0010004},printed='tensor([1.0000e+03, 1.0004e-03], dtype=torch.float16)'},
{dtype='float16',shape={2},data={0.333252,0.666504},printed='tensor([0.3333, 0.6665], dtype=torch.float16)'},
{dtype='float16',shape={1},data={0.0},printed='tensor([0.], dtype=torch.float16)'},
{dtype='float16',shape={1},data={1/0},printed='tensor([inf], dtype=torch.float16)'},
{dtype='bfloat16',shape={3},data={0.1001,0.2002,0.30078},printed='tensor([0.1001, 0.2002, 0.3008], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={1},data={1.0012e-08},printed='tensor([1.0012e-08], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={0.00010014,1.0},printed='tensor([1.0014e-04, 1.0000e+00], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={1.0,1000.0},printed='tensor([   1., 1000.], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={1.0014e+08,2.0028e+08},printed='tensor([1.0014e+08, 2.0028e+08], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={1},data={0/0},printed='tensor([nan], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={1/0,1.0},printed='tensor([inf, 1.], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={1},data={9.1835e-41},printed='tensor([9.1835e-41], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={1},data={9.9992e+09},printed='tensor([9.9992e+09], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={99840.0,-3.0},printed='tensor([ 9.9840e+04, -3.0000e+00], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={1},data={10.0},printed='tensor([10.], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={1.0,1.0},printed='tensor([1., 1.], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={1.0014e-05,2.0027e-05},printed='tensor([1.0014e-05, 2.0027e-05], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={65536.0,0.1001},printed='tensor([6.5536e+04, 1.0010e-01], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={1.0027e+07,1.0},printed='tensor([1.0027e+07, 1.0000e+00], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={1},data={1/0},printed='tensor([inf], dtype=torch.bfloat16)'},
{dtype='bfloat16',shape={2},data={-1.0012e-08,1.0012e-08},printed='tensor([-1.0012e-08,  1.0012e-08], dtype=torch.bfloat16)'},
{dtype='float32',shape={},data={3.14159012},printed='tensor(3.1416)'},
{dtype='float64',shape={},data={3.14159},printed='tensor(3.1416, dtype=torch.float64)'},
{dtype='float32',shape={},data={-2.0},printed='tensor(-2.)'},
{dtype='float64',shape={},data={-2.0},printed='tensor(-2., dtype=torch.float64)'},
{dtype='float32',shape={},data={0.0},printed='tensor(0.)'},
{dtype='float64',shape={},data={0.0},printed='tensor(0., dtype=torch.float64)'},
{dtype='float32',shape={},data={-0.0},printed='tensor(-0.)'},
{dtype='float64',shape={},data={-0.0},printed='tensor(-0., dtype=torch.float64)'},
{dtype='float32',shape={},data={1.00000001e-10},printed='tensor(1.0000e-10)'},
{dtype='float64',shape={},data={1e-10},printed='tensor(1.0000e-10, dtype=torch.float64)'},
{dtype='float32',shape={},data={1.00000002e+20},printed='tensor(1.0000e+20)'},
{dtype='float64',shape={},data={1e+20},printed='tensor(1.0000e+20, dtype=torch.float64)'},
{dtype='float32',shape={},data={0/0},printed='tensor(nan)'},
{dtype='float64',shape={},data={0/0},printed='tensor(nan, dtype=torch.float64)'},
{dtype='float32',shape={},data={1/0},printed='tensor(inf)'},
{dtype='float64',shape={},data={1/0},printed='tensor(inf, dtype=torch.float64)'},
{dtype='float32',shape={},data={-1/0},printed='tensor(-inf)'},
{dtype='float64',shape={},data={-1/0},printed='tensor(-inf, dtype=torch.float64)'},
{dtype='float32',shape={},data={100000.0},printed='tensor(100000.)'},
{dtype='float64',shape={},data={100000.0},printed='tensor(100000., dtype=torch.float64)'},
{dtype='float32',shape={},data={123456.0},printed='tensor(123456.)'},
{dtype='float64',shape={},data={123456.0},printed='tensor(123456., dtype=torch.float64)'},
{dtype='float32',shape={},data={0.100000001},printed='tensor(0.1000)'},
{dtype='float64',shape={},data={0.1},printed='tensor(0.1000, dtype=torch.float64)'},
{dtype='float32',shape={},data={1.00000003e+16},printed='tensor(1.0000e+16)'},
{dtype='float64',shape={},data={1e+16},printed='tensor(1.0000e+16, dtype=torch.float64)'},
{dtype='float16',shape={2,2},data={1.5,-2.0,300.25,0.0},printed=[==[
tensor([[  1.5000,  -2.0000],
        [300.2500,   0.0000]], dtype=torch.float16)
]==]},
{dtype='float16',shape={2,3},data={-1.20605,0.061676,1.16309,-1.50098,-1.59473,-0.0187073},printed=[==[
tensor([[-1.2061,  0.0617,  1.1631],
        [-1.5010, -1.5947, -0.0187]], dtype=torch.float16)
]==]},
{dtype='float16',shape={3,4},data={-2132.0,-527.0,-102.125,9.90625,-445.5,-1498.0,-947.5,-613.0,-129.0,-410.75,1393.0,-98.4375},printed=[==[
tensor([[-2132.0000,  -527.0000,  -102.1250,     9.9062],
        [ -445.5000, -1498.0000,  -947.5000,  -613.0000],
        [ -129.0000,  -410.7500,  1393.0000,   -98.4375]], dtype=torch.float16)
]==]},
{dtype='float16',shape={2,2,2},data={0.00167942,-0.000937939,-0.000489712,0.000281096,-0.000281334,0.000477791,-0.000993729,0.000151157},printed=[==[
tensor([[[ 0.0017, -0.0009],
         [-0.0005,  0.0003]],

        [[-0.0003,  0.0005],
         [-0.0010,  0.0002]]], dtype=torch.float16)
]==]},
{dtype='float16',shape={2,2},data={2.98023e-07,-7.7486e-07,4.76837e-07,1.66893e-06},printed=[==[
tensor([[ 2.9802e-07, -7.7486e-07],
        [ 4.7684e-07,  1.6689e-06]], dtype=torch.float16)
]==]},
{dtype='bfloat16',shape={2,2},data={1.5,-2.0,300.0,0.0},printed=[==[
tensor([[  1.5000,  -2.0000],
        [300.0000,   0.0000]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={2,3},data={-1.6641,0.73438,-2.0625,0.095215,0.29492,-0.16309},printed=[==[
tensor([[-1.6641,  0.7344, -2.0625],
        [ 0.0952,  0.2949, -0.1631]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={3,4},data={390.0,1728.0,1952.0,-1208.0,416.0,-1400.0,-1360.0,434.0,-520.0,924.0,2752.0,270.0},printed=[==[
tensor([[  390.,  1728.,  1952., -1208.],
        [  416., -1400., -1360.,   434.],
        [ -520.,   924.,  2752.,   270.]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={2,2,2},data={-0.00018883,0.0008049,0.001236,-0.0017624,2.1935e-05,-0.0012283,6.1512e-05,-6.1989e-05},printed=[==[
tensor([[[-1.8883e-04,  8.0490e-04],
         [ 1.2360e-03, -1.7624e-03]],

        [[ 2.1935e-05, -1.2283e-03],
         [ 6.1512e-05, -6.1989e-05]]], dtype=torch.bfloat16)
]==]},
{dtype='bfloat16',shape={2,2},data={4.2841e-07,-4.34e-07,-5.0664e-07,-1.6838e-06},printed=[==[
tensor([[ 4.2841e-07, -4.3400e-07],
        [-5.0664e-07, -1.6838e-06]], dtype=torch.bfloat16)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,300.25,0.0},printed=[==[
tensor([[  1.5000,  -2.0000],
        [300.2500,   0.0000]])
]==]},
{dtype='float32',shape={2,3},data={-2.15672398,-1.11697531,0.252865076,1.41059625,1.93053079,-0.602155507},printed=[==[
tensor([[-2.1567, -1.1170,  0.2529],
        [ 1.4106,  1.9305, -0.6022]])
]==]},
{dtype='float32',shape={3,4},data={970.997009,-1492.9834,268.553192,917.944214,755.942871,-858.932068,-25.5357037,906.469055,2320.61963,775.732483,809.943665,-64.167366},printed=[==[
tensor([[  970.9970, -1492.9834,   268.5532,   917.9442],
        [  755.9429,  -858.9321,   -25.5357,   906.4691],
        [ 2320.6196,   775.7325,   809.9437,   -64.1674]])
]==]},
{dtype='float32',shape={2,2,2},data={-0.00151567953,0.000397097232,-0.000691894384,-0.000703229569,0.000594817975,-0.000383741921,-0.00175826577,0.000547330652},printed=[==[
tensor([[[-0.0015,  0.0004],
         [-0.0007, -0.0007]],

        [[ 0.0006, -0.0004],
         [-0.0018,  0.0005]]])
]==]},
{dtype='float32',shape={2,2},data={6.57743897e-07,1.36613664e-06,-1.0116388e-06,9.53815857e-07},printed=[==[
tensor([[ 6.5774e-07,  1.3661e-06],
        [-1.0116e-06,  9.5382e-07]])
]==]},
{dtype='float64',shape={2,2},data={1.5,-2.0,300.25,0.0},printed=[==[
tensor([[  1.5000,  -2.0000],
        [300.2500,   0.0000]], dtype=torch.float64)
]==]},
{dtype='float64',shape={2,3},data={-0.12938812375068665,0.31335824728012085,0.29596009850502014,-1.5607117414474487,0.4707146883010864,-2.137770652770996},printed=[==[
tensor([[-0.1294,  0.3134,  0.2960],
        [-1.5607,  0.4707, -2.1378]], dtype=torch.float64)
]==]},
{dtype='float64',shape={3,4},data={244.34657287597656,955.1178588867188,-987.6019897460938,-1039.5628662109375,-813.9096069335938,-274.6945495605469,-477.84991455078125,-1487.2640380859375,1497.185546875,996.97216796875,-2943.744140625,-1898.4306640625},printed=[==[
tensor([[  244.3466,   955.1179,  -987.6020, -1039.5629],
        [ -813.9096,  -274.6945,  -477.8499, -1487.2640],
        [ 1497.1855,   996.9722, -2943.7441, -1898.4307]], dtype=torch.float64)
]==]},
{dtype='float64',shape={2,2,2},data={0.0006661549559794366,-0.0009027947671711445,-0.0013078780611976981,0.0006734285852871835,-0.0007689391495659947,-0.0008864196133799851,-0.0014350558631122112,-0.0005334040615707636},printed=[==[
tensor([[[ 0.0007, -0.0009],
         [-0.0013,  0.0007]],

        [[-0.0008, -0.0009],
         [-0.0014, -0.0005]]], dtype=torch.float64)
]==]},
{dtype='float64',shape={2,2},data={-1.0575759290532005e-07,2.2611635586144985e-07,-5.670307245964068e-07,9.030651426655822e-07},printed=[==[
tensor([[-1.0576e-07,  2.2612e-07],
        [-5.6703e-07,  9.0307e-07]], dtype=torch.float64)
]==]},
{dtype='float32',shape={30},fill={30,0.25,0},printed=[==[
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,
        2.2500, 2.5000, 2.7500, 3.0000, 3.2500, 3.5000, 3.7500, 4.0000, 4.2500,
        4.5000, 4.7500, 5.0000, 5.2500, 5.5000, 5.7500, 6.0000, 6.2500, 6.5000,
        6.7500, 7.0000, 7.2500])
]==]},
{dtype='int64',shape={30},fill={30,1,0},printed=[==[
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
]==]},
{dtype='bool',shape={30},fill={30,1,0},printed=[==[
tensor([False,  True,  True,  True,  True,  True,  True,  True,  True,  True,
         True,  True,  True,  True,  True,  True,  True,  True,  True,  True,
         True,  True,  True,  True,  True,  True,  True,  True,  True,  True])
]==]},
{dtype='float16',shape={30},fill={30,1,0},printed=[==[
tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,
        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,
        28., 29.], dtype=torch.float16)
]==]},
{dtype='int64',shape={100},fill={100,1,0},printed=[==[
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
        36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53,
        54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71,
        72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89,
        90, 91, 92, 93, 94, 95, 96, 97, 98, 99])
]==]},
{dtype='float32',shape={2,20},fill={40,0.5,-3},printed=[==[
tensor([[-3.0000, -2.5000, -2.0000, -1.5000, -1.0000, -0.5000,  0.0000,  0.5000,
          1.0000,  1.5000,  2.0000,  2.5000,  3.0000,  3.5000,  4.0000,  4.5000,
          5.0000,  5.5000,  6.0000,  6.5000],
        [ 7.0000,  7.5000,  8.0000,  8.5000,  9.0000,  9.5000, 10.0000, 10.5000,
         11.0000, 11.5000, 12.0000, 12.5000, 13.0000, 13.5000, 14.0000, 14.5000,
         15.0000, 15.5000, 16.0000, 16.5000]])
]==]},
{dtype='float64',shape={2,3,15},fill={90,0.125,0},printed=[==[
tensor([[[ 0.0000,  0.1250,  0.2500,  0.3750,  0.5000,  0.6250,  0.7500,
           0.8750,  1.0000,  1.1250,  1.2500,  1.3750,  1.5000,  1.6250,
           1.7500],
         [ 1.8750,  2.0000,  2.1250,  2.2500,  2.3750,  2.5000,  2.6250,
           2.7500,  2.8750,  3.0000,  3.1250,  3.2500,  3.3750,  3.5000,
           3.6250],
         [ 3.7500,  3.8750,  4.0000,  4.1250,  4.2500,  4.3750,  4.5000,
           4.6250,  4.7500,  4.8750,  5.0000,  5.1250,  5.2500,  5.3750,
           5.5000]],

        [[ 5.6250,  5.7500,  5.8750,  6.0000,  6.1250,  6.2500,  6.3750,
           6.5000,  6.6250,  6.7500,  6.8750,  7.0000,  7.1250,  7.2500,
           7.3750],
         [ 7.5000,  7.6250,  7.7500,  7.8750,  8.0000,  8.1250,  8.2500,
           8.3750,  8.5000,  8.6250,  8.7500,  8.8750,  9.0000,  9.1250,
           9.2500],
         [ 9.3750,  9.5000,  9.6250,  9.7500,  9.8750, 10.0000, 10.1250,
          10.2500, 10.3750, 10.5000, 10.6250, 10.7500, 10.8750, 11.0000,
          11.1250]]], dtype=torch.float64)
]==]},
{dtype='int32',shape={2,2,2,12},fill={96,1,-20},printed=[==[
tensor([[[[-20, -19, -18, -17, -16, -15, -14, -13, -12, -11, -10,  -9],
          [ -8,  -7,  -6,  -5,  -4,  -3,  -2,  -1,   0,   1,   2,   3]],

         [[  4,   5,   6,   7,   8,   9,  10,  11,  12,  13,  14,  15],
          [ 16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  26,  27]]],


        [[[ 28,  29,  30,  31,  32,  33,  34,  35,  36,  37,  38,  39],
          [ 40,  41,  42,  43,  44,  45,  46,  47,  48,  49,  50,  51]],

         [[ 52,  53,  54,  55,  56,  57,  58,  59,  60,  61,  62,  63],
          [ 64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  74,  75]]]],
       dtype=torch.int32)
]==]},
{dtype='float32',shape={1,11},fill={11,1,0},printed='tensor([[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10.]])'},
{dtype='float32',shape={12,1},fill={12,1,0},printed=[==[
tensor([[ 0.],
        [ 1.],
        [ 2.],
        [ 3.],
        [ 4.],
        [ 5.],
        [ 6.],
        [ 7.],
        [ 8.],
        [ 9.],
        [10.],
        [11.]])
]==]},
{dtype='float32',shape={7},fill={7,0.5,0},printed='tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000])'},
{dtype='int64',shape={12},fill={12,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])'},
{dtype='float32',shape={8},fill={8,0.5,0},printed='tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000])'},
{dtype='int64',shape={13},fill={13,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12])'},
{dtype='float32',shape={9},fill={9,0.5,0},printed='tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000])'},
{dtype='int64',shape={14},fill={14,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13])'},
{dtype='float32',shape={10},fill={10,0.5,0},printed=[==[
tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000,
        4.5000])
]==]},
{dtype='int64',shape={15},fill={15,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14])'},
{dtype='float32',shape={11},fill={11,0.5,0},printed=[==[
tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000,
        4.5000, 5.0000])
]==]},
{dtype='int64',shape={16},fill={16,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15])'},
{dtype='float32',shape={12},fill={12,0.5,0},printed=[==[
tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000,
        4.5000, 5.0000, 5.5000])
]==]},
{dtype='int64',shape={17},fill={17,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16])'},
{dtype='float32',shape={13},fill={13,0.5,0},printed=[==[
tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000,
        4.5000, 5.0000, 5.5000, 6.0000])
]==]},
{dtype='int64',shape={18},fill={18,1,0},printed='tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17])'},
{dtype='float32',shape={16},data={9.99999994e-09,1.0,9.99999994e-09,1.0,9.99999994e-09,1.0,9.99999994e-09,1.0,9.99999994e-09,1.0,9.99999994e-09,1.0,9.99999994e-09,1.0,9.99999994e-09,1.0},printed=[==[
tensor([1.0000e-08, 1.0000e+00, 1.0000e-08, 1.0000e+00, 1.0000e-08, 1.0000e+00,
        1.0000e-08, 1.0000e+00, 1.0000e-08, 1.0000e+00, 1.0000e-08, 1.0000e+00,
        1.0000e-08, 1.0000e+00, 1.0000e-08, 1.0000e+00])
]==]},
{dtype='bool',shape={18},data={true,false,true,false,true,false,true,false,true,false,true,false,true,false,true,false,true,false},printed=[==[
tensor([ True, False,  True, False,  True, False,  True, False,  True, False,
         True, False,  True, False,  True, False,  True, False])
]==]},
{dtype='float32',shape={8},fill={8,0.5,0},requires_grad=true,printed=[==[
tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000],
       requires_grad=True)
]==]},
{dtype='float64',shape={7},fill={7,0.5,0},requires_grad=true,printed=[==[
tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000],
       dtype=torch.float64, requires_grad=True)
]==]},
{dtype='float64',shape={2,12},fill={24,0.5,0},requires_grad=true,printed=[==[
tensor([[ 0.0000,  0.5000,  1.0000,  1.5000,  2.0000,  2.5000,  3.0000,  3.5000,
          4.0000,  4.5000,  5.0000,  5.5000],
        [ 6.0000,  6.5000,  7.0000,  7.5000,  8.0000,  8.5000,  9.0000,  9.5000,
         10.0000, 10.5000, 11.0000, 11.5000]], dtype=torch.float64,
       requires_grad=True)
]==]},
{dtype='int64',shape={1001},fill={1001,1,0},printed='tensor([   0,    1,    2,  ...,  998,  999, 1000])'},
{dtype='float32',shape={1000},fill={1000,1,0},printed=[==[
tensor([  0.,   1.,   2.,   3.,   4.,   5.,   6.,   7.,   8.,   9.,  10.,  11.,
         12.,  13.,  14.,  15.,  16.,  17.,  18.,  19.,  20.,  21.,  22.,  23.,
         24.,  25.,  26.,  27.,  28.,  29.,  30.,  31.,  32.,  33.,  34.,  35.,
         36.,  37.,  38.,  39.,  40.,  41.,  42.,  43.,  44.,  45.,  46.,  47.,
         48.,  49.,  50.,  51.,  52.,  53.,  54.,  55.,  56.,  57.,  58.,  59.,
         60.,  61.,  62.,  63.,  64.,  65.,  66.,  67.,  68.,  69.,  70.,  71.,
         72.,  73.,  74.,  75.,  76.,  77.,  78.,  79.,  80.,  81.,  82.,  83.,
         84.,  85.,  86.,  87.,  88.,  89.,  90.,  91.,  92.,  93.,  94.,  95.,
         96.,  97.,  98.,  99., 100., 101., 102., 103., 104., 105., 106., 107.,
        108., 109., 110., 111., 112., 113., 114., 115., 116., 117., 118., 119.,
        120., 121., 122., 123., 124., 125., 126., 127., 128., 129., 130., 131.,
        132., 133., 134., 135., 136., 137., 138., 139., 140., 141., 142., 143.,
        144., 145., 146., 147., 148., 149., 150., 151., 152., 153., 154., 155.,
        156., 157., 158., 159., 160., 161., 162., 163., 164., 165., 166., 167.,
        168., 169., 170., 171., 172., 173., 174., 175., 176., 177., 178., 179.,
        180., 181., 182., 183., 184., 185., 186., 187., 188., 189., 190., 191.,
        192., 193., 194., 195., 196., 197., 198., 199., 200., 201., 202., 203.,
        204., 205., 206., 207., 208., 209., 210., 211., 212., 213., 214., 215.,
        216., 217., 218., 219., 220., 221., 222., 223., 224., 225., 226., 227.,
        228., 229., 230., 231., 232., 233., 234., 235., 236., 237., 238., 239.,
        240., 241., 242., 243., 244., 245., 246., 247., 248., 249., 250., 251.,
        252., 253., 254., 255., 256., 257., 258., 259., 260., 261., 262., 263.,
        264., 265., 266., 267., 268., 269., 270., 271., 272., 273., 274., 275.,
        276., 277., 278., 279., 280., 281., 282., 283., 284., 285., 286., 287.,
        288., 289., 290., 291., 292., 293., 294., 295., 296., 297., 298., 299.,
        300., 301., 302., 303., 304., 305., 306., 307., 308., 309., 310., 311.,
        312., 313., 314., 315., 316., 317., 318., 319., 320., 321., 322., 323.,
        324., 325., 326., 327., 328., 329., 330., 331., 332., 333., 334., 335.,
        336., 337., 338., 339., 340., 341., 342., 343., 344., 345., 346., 347.,
        348., 349., 350., 351., 352., 353., 354., 355., 356., 357., 358., 359.,
        360., 361., 362., 363., 364., 365., 366., 367., 368., 369., 370., 371.,
        372., 373., 374., 375., 376., 377., 378., 379., 380., 381., 382., 383.,
        384., 385., 386., 387., 388., 389., 390., 391., 392., 393., 394., 395.,
        396., 397., 398., 399., 400., 401., 402., 403., 404., 405., 406., 407.,
        408., 409., 410., 411., 412., 413., 414., 415., 416., 417., 418., 419.,
        420., 421., 422., 423., 424., 425., 426., 427., 428., 429., 430., 431.,
        432., 433., 434., 435., 436., 437., 438., 439., 440., 441., 442., 443.,
        444., 445., 446., 447., 448., 449., 450., 451., 452., 453., 454., 455.,
        456., 457., 458., 459., 460., 461., 462., 463., 464., 465., 466., 467.,
        468., 469., 470., 471., 472., 473., 474., 475., 476., 477., 478., 479.,
        480., 481., 482., 483., 484., 485., 486., 487., 488., 489., 490., 491.,
        492., 493., 494., 495., 496., 497., 498., 499., 500., 501., 502., 503.,
        504., 505., 506., 507., 508., 509., 510., 511., 512., 513., 514., 515.,
        516., 517., 518., 519., 520., 521., 522., 523., 524., 525., 526., 527.,
        528., 529., 530., 531., 532., 533., 534., 535., 536., 537., 538., 539.,
        540., 541., 542., 543., 544., 545., 546., 547., 548., 549., 550., 551.,
        552., 553., 554., 555., 556., 557., 558., 559., 560., 561., 562., 563.,
        564., 565., 566., 567., 568., 569., 570., 571., 572., 573., 574., 575.,
        576., 577., 578., 579., 580., 581., 582., 583., 584., 585., 586., 587.,
        588., 589., 590., 591., 592., 593., 594., 595., 596., 597., 598., 599.,
        600., 601., 602., 603., 604., 605., 606., 607., 608., 609., 610., 611.,
        612., 613., 614., 615., 616., 617., 618., 619., 620., 621., 622., 623.,
        624., 625., 626., 627., 628., 629., 630., 631., 632., 633., 634., 635.,
        636., 637., 638., 639., 640., 641., 642., 643., 644., 645., 646., 647.,
        648., 649., 650., 651., 652., 653., 654., 655., 656., 657., 658., 659.,
        660., 661., 662., 663., 664., 665., 666., 667., 668., 669., 670., 671.,
        672., 673., 674., 675., 676., 677., 678., 679., 680., 681., 682., 683.,
        684., 685., 686., 687., 688., 689., 690., 691., 692., 693., 694., 695.,
        696., 697., 698., 699., 700., 701., 702., 703., 704., 705., 706., 707.,
        708., 709., 710., 711., 712., 713., 714., 715., 716., 717., 718., 719.,
        720., 721., 722., 723., 724., 725., 726., 727., 728., 729., 730., 731.,
        732., 733., 734., 735., 736., 737., 738., 739., 740., 741., 742., 743.,
        744., 745., 746., 747., 748., 749., 750., 751., 752., 753., 754., 755.,
        756., 757., 758., 759., 760., 761., 762., 763., 764., 765., 766., 767.,
        768., 769., 770., 771., 772., 773., 774., 775., 776., 777., 778., 779.,
        780., 781., 782., 783., 784., 785., 786., 787., 788., 789., 790., 791.,
        792., 793., 794., 795., 796., 797., 798., 799., 800., 801., 802., 803.,
        804., 805., 806., 807., 808., 809., 810., 811., 812., 813., 814., 815.,
        816., 817., 818., 819., 820., 821., 822., 823., 824., 825., 826., 827.,
        828., 829., 830., 831., 832., 833., 834., 835., 836., 837., 838., 839.,
        840., 841., 842., 843., 844., 845., 846., 847., 848., 849., 850., 851.,
        852., 853., 854., 855., 856., 857., 858., 859., 860., 861., 862., 863.,
        864., 865., 866., 867., 868., 869., 870., 871., 872., 873., 874., 875.,
        876., 877., 878., 879., 880., 881., 882., 883., 884., 885., 886., 887.,
        888., 889., 890., 891., 892., 893., 894., 895., 896., 897., 898., 899.,
        900., 901., 902., 903., 904., 905., 906., 907., 908., 909., 910., 911.,
        912., 913., 914., 915., 916., 917., 918., 919., 920., 921., 922., 923.,
        924., 925., 926., 927., 928., 929., 930., 931., 932., 933., 934., 935.,
        936., 937., 938., 939., 940., 941., 942., 943., 944., 945., 946., 947.,
        948., 949., 950., 951., 952., 953., 954., 955., 956., 957., 958., 959.,
        960., 961., 962., 963., 964., 965., 966., 967., 968., 969., 970., 971.,
        972., 973., 974., 975., 976., 977., 978., 979., 980., 981., 982., 983.,
        984., 985., 986., 987., 988., 989., 990., 991., 992., 993., 994., 995.,
        996., 997., 998., 999.])
]==]},
{dtype='float32',shape={2000},fill={2000,0.5,0},printed=[==[
tensor([0.0000e+00, 5.0000e-01, 1.0000e+00,  ..., 9.9850e+02, 9.9900e+02,
        9.9950e+02])
]==]},
{dtype='float64',shape={1001},fill={1001,0.25,-7},printed=[==[
tensor([ -7.0000,  -6.7500,  -6.5000,  ..., 242.5000, 242.7500, 243.0000],
       dtype=torch.float64)
]==]},
{dtype='int64',shape={40,50},fill={2000,1,0},printed=[==[
tensor([[   0,    1,    2,  ...,   47,   48,   49],
        [  50,   51,   52,  ...,   97,   98,   99],
        [ 100,  101,  102,  ...,  147,  148,  149],
        ...,
        [1850, 1851, 1852,  ..., 1897, 1898, 1899],
        [1900, 1901, 1902,  ..., 1947, 1948, 1949],
        [1950, 1951, 1952,  ..., 1997, 1998, 1999]])
]==]},
{dtype='float32',shape={6,200},fill={1200,0.5,0},printed=[==[
tensor([[0.0000e+00, 5.0000e-01, 1.0000e+00,  ..., 9.8500e+01, 9.9000e+01,
         9.9500e+01],
        [1.0000e+02, 1.0050e+02, 1.0100e+02,  ..., 1.9850e+02, 1.9900e+02,
         1.9950e+02],
        [2.0000e+02, 2.0050e+02, 2.0100e+02,  ..., 2.9850e+02, 2.9900e+02,
         2.9950e+02],
        [3.0000e+02, 3.0050e+02, 3.0100e+02,  ..., 3.9850e+02, 3.9900e+02,
         3.9950e+02],
        [4.0000e+02, 4.0050e+02, 4.0100e+02,  ..., 4.9850e+02, 4.9900e+02,
         4.9950e+02],
        [5.0000e+02, 5.0050e+02, 5.0100e+02,  ..., 5.9850e+02, 5.9900e+02,
         5.9950e+02]])
]==]},
{dtype='float32',shape={7,200},fill={1400,0.5,0},printed=[==[
tensor([[0.0000e+00, 5.0000e-01, 1.0000e+00,  ..., 9.8500e+01, 9.9000e+01,
         9.9500e+01],
        [1.0000e+02, 1.0050e+02, 1.0100e+02,  ..., 1.9850e+02, 1.9900e+02,
         1.9950e+02],
        [2.0000e+02, 2.0050e+02, 2.0100e+02,  ..., 2.9850e+02, 2.9900e+02,
         2.9950e+02],
        ...,
        [4.0000e+02, 4.0050e+02, 4.0100e+02,  ..., 4.9850e+02, 4.9900e+02,
         4.9950e+02],
        [5.0000e+02, 5.0050e+02, 5.0100e+02,  ..., 5.9850e+02, 5.9900e+02,
         5.9950e+02],
        [6.0000e+02, 6.0050e+02, 6.0100e+02,  ..., 6.9850e+02, 6.9900e+02,
         6.9950e+02]])
]==]},
{dtype='float32',shape={200,6},fill={1200,0.125,0},printed=[==[
tensor([[0.0000e+00, 1.2500e-01, 2.5000e-01, 3.7500e-01, 5.0000e-01, 6.2500e-01],
        [7.5000e-01, 8.7500e-01, 1.0000e+00, 1.1250e+00, 1.2500e+00, 1.3750e+00],
        [1.5000e+00, 1.6250e+00, 1.7500e+00, 1.8750e+00, 2.0000e+00, 2.1250e+00],
        ...,
        [1.4775e+02, 1.4788e+02, 1.4800e+02, 1.4812e+02, 1.4825e+02, 1.4838e+02],
        [1.4850e+02, 1.4862e+02, 1.4875e+02, 1.4888e+02, 1.4900e+02, 1.4912e+02],
        [1.4925e+02, 1.4938e+02, 1.4950e+02, 1.4962e+02, 1.4975e+02, 1.4988e+02]])
]==]},
{dtype='float32',shape={2,600},fill={1200,1,0},printed=[==[
tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 5.9700e+02, 5.9800e+02,
         5.9900e+02],
        [6.0000e+02, 6.0100e+02, 6.0200e+02,  ..., 1.1970e+03, 1.1980e+03,
         1.1990e+03]])
]==]},
{dtype='float32',shape={10,10,11},fill={1100,0.5,0},printed=[==[
tensor([[[0.0000e+00, 5.0000e-01, 1.0000e+00,  ..., 4.0000e+00,
          4.5000e+00, 5.0000e+00],
         [5.5000e+00, 6.0000e+00, 6.5000e+00,  ..., 9.5000e+00,
          1.0000e+01, 1.0500e+01],
         [1.1000e+01, 1.1500e+01, 1.2000e+01,  ..., 1.5000e+01,
          1.5500e+01, 1.6000e+01],
         ...,
         [3.8500e+01, 3.9000e+01, 3.9500e+01,  ..., 4.2500e+01,
          4.3000e+01, 4.3500e+01],
         [4.4000e+01, 4.4500e+01, 4.5000e+01,  ..., 4.8000e+01,
          4.8500e+01, 4.9000e+01],
         [4.9500e+01, 5.0000e+01, 5.0500e+01,  ..., 5.3500e+01,
          5.4000e+01, 5.4500e+01]],

        [[5.5000e+01, 5.5500e+01, 5.6000e+01,  ..., 5.9000e+01,
          5.9500e+01, 6.0000e+01],
         [6.0500e+01, 6.1000e+01, 6.1500e+01,  ..., 6.4500e+01,
          6.5000e+01, 6.5500e+01],
         [6.6000e+01, 6.6500e+01, 6.7000e+01,  ..., 7.0000e+01,
          7.0500e+01, 7.1000e+01],
         ...,
         [9.3500e+01, 9.4000e+01, 9.4500e+01,  ..., 9.7500e+01,
          9.8000e+01, 9.8500e+01],
         [9.9000e+01, 9.9500e+01, 1.0000e+02,  ..., 1.0300e+02,
          1.0350e+02, 1.0400e+02],
         [1.0450e+02, 1.0500e+02, 1.0550e+02,  ..., 1.0850e+02,
          1.0900e+02, 1.0950e+02]],

        [[1.1000e+02, 1.1050e+02, 1.1100e+02,  ..., 1.1400e+02,
          1.1450e+02, 1.1500e+02],
         [1.1550e+02, 1.1600e+02, 1.1650e+02,  ..., 1.1950e+02,
          1.2000e+02, 1.2050e+02],
         [1.2100e+02, 1.2150e+02, 1.2200e+02,  ..., 1.2500e+02,
          1.2550e+02, 1.2600e+02],
         ...,
         [1.4850e+02, 1.4900e+02, 1.4950e+02,  ..., 1.5250e+02,
          1.5300e+02, 1.5350e+02],
         [1.5400e+02, 1.5450e+02, 1.5500e+02,  ..., 1.5800e+02,
          1.5850e+02, 1.5900e+02],
         [1.5950e+02, 1.6000e+02, 1.6050e+02,  ..., 1.6350e+02,
          1.6400e+02, 1.6450e+02]],

        ...,

        [[3.8500e+02, 3.8550e+02, 3.8600e+02,  ..., 3.8900e+02,
          3.8950e+02, 3.9000e+02],
         [3.9050e+02, 3.9100e+02, 3.9150e+02,  ..., 3.9450e+02,
          3.9500e+02, 3.9550e+02],
         [3.9600e+02, 3.9650e+02, 3.9700e+02,  ..., 4.0000e+02,
          4.0050e+02, 4.0100e+02],
         ...,
         [4.2350e+02, 4.2400e+02, 4.2450e+02,  ..., 4.2750e+02,
          4.2800e+02, 4.2850e+02],
         [4.2900e+02, 4.2950e+02, 4.3000e+02,  ..., 4.3300e+02,
          4.3350e+02, 4.3400e+02],
         [4.3450e+02, 4.3500e+02, 4.3550e+02,  ..., 4.3850e+02,
          4.3900e+02, 4.3950e+02]],

        [[4.4000e+02, 4.4050e+02, 4.4100e+02,  ..., 4.4400e+02,
          4.4450e+02, 4.4500e+02],
         [4.4550e+02, 4.4600e+02, 4.4650e+02,  ..., 4.4950e+02,
          4.5000e+02, 4.5050e+02],
         [4.5100e+02, 4.5150e+02, 4.5200e+02,  ..., 4.5500e+02,
          4.5550e+02, 4.5600e+02],
         ...,
         [4.7850e+02, 4.7900e+02, 4.7950e+02,  ..., 4.8250e+02,
          4.8300e+02, 4.8350e+02],
         [4.8400e+02, 4.8450e+02, 4.8500e+02,  ..., 4.8800e+02,
          4.8850e+02, 4.8900e+02],
         [4.8950e+02, 4.9000e+02, 4.9050e+02,  ..., 4.9350e+02,
          4.9400e+02, 4.9450e+02]],

        [[4.9500e+02, 4.9550e+02, 4.9600e+02,  ..., 4.9900e+02,
          4.9950e+02, 5.0000e+02],
         [5.0050e+02, 5.0100e+02, 5.0150e+02,  ..., 5.0450e+02,
          5.0500e+02, 5.0550e+02],
         [5.0600e+02, 5.0650e+02, 5.0700e+02,  ..., 5.1000e+02,
          5.1050e+02, 5.1100e+02],
         ...,
         [5.3350e+02, 5.3400e+02, 5.3450e+02,  ..., 5.3750e+02,
          5.3800e+02, 5.3850e+02],
         [5.3900e+02, 5.3950e+02, 5.4000e+02,  ..., 5.4300e+02,
          5.4350e+02, 5.4400e+02],
         [5.4450e+02, 5.4500e+02, 5.4550e+02,  ..., 5.4850e+02,
          5.4900e+02, 5.4950e+02]]])
]==]},
{dtype='float32',shape={3,4,5,20},fill={1200,1,0},printed=[==[
tensor([[[[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.7000e+01,
           1.8000e+01, 1.9000e+01],
          [2.0000e+01, 2.1000e+01, 2.2000e+01,  ..., 3.7000e+01,
           3.8000e+01, 3.9000e+01],
          [4.0000e+01, 4.1000e+01, 4.2000e+01,  ..., 5.7000e+01,
           5.8000e+01, 5.9000e+01],
          [6.0000e+01, 6.1000e+01, 6.2000e+01,  ..., 7.7000e+01,
           7.8000e+01, 7.9000e+01],
          [8.0000e+01, 8.1000e+01, 8.2000e+01,  ..., 9.7000e+01,
           9.8000e+01, 9.9000e+01]],

         [[1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.1700e+02,
           1.1800e+02, 1.1900e+02],
          [1.2000e+02, 1.2100e+02, 1.2200e+02,  ..., 1.3700e+02,
           1.3800e+02, 1.3900e+02],
          [1.4000e+02, 1.4100e+02, 1.4200e+02,  ..., 1.5700e+02,
           1.5800e+02, 1.5900e+02],
          [1.6000e+02, 1.6100e+02, 1.6200e+02,  ..., 1.7700e+02,
           1.7800e+02, 1.7900e+02],
          [1.8000e+02, 1.8100e+02, 1.8200e+02,  ..., 1.9700e+02,
           1.9800e+02, 1.9900e+02]],

         [[2.0000e+02, 2.0100e+02, 2.0200e+02,  ..., 2.1700e+02,
           2.1800e+02, 2.1900e+02],
          [2.2000e+02, 2.2100e+02, 2.2200e+02,  ..., 2.3700e+02,
           2.3800e+02, 2.3900e+02],
          [2.4000e+02, 2.4100e+02, 2.4200e+02,  ..., 2.5700e+02,
           2.5800e+02, 2.5900e+02],
          [2.6000e+02, 2.6100e+02, 2.6200e+02,  ..., 2.7700e+02,
           2.7800e+02, 2.7900e+02],
          [2.8000e+02, 2.8100e+02, 2.8200e+02,  ..., 2.9700e+02,
           2.9800e+02, 2.9900e+02]],

         [[3.0000e+02, 3.0100e+02, 3.0200e+02,  ..., 3.1700e+02,
           3.1800e+02, 3.1900e+02],
          [3.2000e+02, 3.2100e+02, 3.2200e+02,  ..., 3.3700e+02,
           3.3800e+02, 3.3900e+02],
          [3.4000e+02, 3.4100e+02, 3.4200e+02,  ..., 3.5700e+02,
           3.5800e+02, 3.5900e+02],
          [3.6000e+02, 3.6100e+02, 3.6200e+02,  ..., 3.7700e+02,
           3.7800e+02, 3.7900e+02],
          [3.8000e+02, 3.8100e+02, 3.8200e+02,  ..., 3.9700e+02,
           3.9800e+02, 3.9900e+02]]],


        [[[4.0000e+02, 4.0100e+02, 4.0200e+02,  ..., 4.1700e+02,
           4.1800e+02, 4.1900e+02],
          [4.2000e+02, 4.2100e+02, 4.2200e+02,  ..., 4.3700e+02,
           4.3800e+02, 4.3900e+02],
          [4.4000e+02, 4.4100e+02, 4.4200e+02,  ..., 4.5700e+02,
           4.5800e+02, 4.5900e+02],
          [4.6000e+02, 4.6100e+02, 4.6200e+02,  ..., 4.7700e+02,
           4.7800e+02, 4.7900e+02],
          [4.8000e+02, 4.8100e+02, 4.8200e+02,  ..., 4.9700e+02,
           4.9800e+02, 4.9900e+02]],

         [[5.0000e+02, 5.0100e+02, 5.0200e+02,  ..., 5.1700e+02,
           5.1800e+02, 5.1900e+02],
          [5.2000e+02, 5.2100e+02, 5.2200e+02,  ..., 5.3700e+02,
           5.3800e+02, 5.3900e+02],
          [5.4000e+02, 5.4100e+02, 5.4200e+02,  ..., 5.5700e+02,
           5.5800e+02, 5.5900e+02],
          [5.6000e+02, 5.6100e+02, 5.6200e+02,  ..., 5.7700e+02,
           5.7800e+02, 5.7900e+02],
          [5.8000e+02, 5.8100e+02, 5.8200e+02,  ..., 5.9700e+02,
           5.9800e+02, 5.9900e+02]],

         [[6.0000e+02, 6.0100e+02, 6.0200e+02,  ..., 6.1700e+02,
           6.1800e+02, 6.1900e+02],
          [6.2000e+02, 6.2100e+02, 6.2200e+02,  ..., 6.3700e+02,
           6.3800e+02, 6.3900e+02],
          [6.4000e+02, 6.4100e+02, 6.4200e+02,  ..., 6.5700e+02,
           6.5800e+02, 6.5900e+02],
          [6.6000e+02, 6.6100e+02, 6.6200e+02,  ..., 6.7700e+02,
           6.7800e+02, 6.7900e+02],
          [6.8000e+02, 6.8100e+02, 6.8200e+02,  ..., 6.9700e+02,
           6.9800e+02, 6.9900e+02]],

         [[7.0000e+02, 7.0100e+02, 7.0200e+02,  ..., 7.1700e+02,
           7.1800e+02, 7.1900e+02],
          [7.2000e+02, 7.2100e+02, 7.2200e+02,  ..., 7.3700e+02,
           7.3800e+02, 7.3900e+02],
          [7.4000e+02, 7.4100e+02, 7.4200e+02,  ..., 7.5700e+02,
           7.5800e+02, 7.5900e+02],
          [7.6000e+02, 7.6100e+02, 7.6200e+02,  ..., 7.7700e+02,
           7.7800e+02, 7.7900e+02],
          [7.8000e+02, 7.8100e+02, 7.8200e+02,  ..., 7.9700e+02,
           7.9800e+02, 7.9900e+02]]],


        [[[8.0000e+02, 8.0100e+02, 8.0200e+02,  ..., 8.1700e+02,
           8.1800e+02, 8.1900e+02],
          [8.2000e+02, 8.2100e+02, 8.2200e+02,  ..., 8.3700e+02,
           8.3800e+02, 8.3900e+02],
          [8.4000e+02, 8.4100e+02, 8.4200e+02,  ..., 8.5700e+02,
           8.5800e+02, 8.5900e+02],
          [8.6000e+02, 8.6100e+02, 8.6200e+02,  ..., 8.7700e+02,
           8.7800e+02, 8.7900e+02],
          [8.8000e+02, 8.8100e+02, 8.8200e+02,  ..., 8.9700e+02,
           8.9800e+02, 8.9900e+02]],

         [[9.0000e+02, 9.0100e+02, 9.0200e+02,  ..., 9.1700e+02,
           9.1800e+02, 9.1900e+02],
          [9.2000e+02, 9.2100e+02, 9.2200e+02,  ..., 9.3700e+02,
           9.3800e+02, 9.3900e+02],
          [9.4000e+02, 9.4100e+02, 9.4200e+02,  ..., 9.5700e+02,
           9.5800e+02, 9.5900e+02],
          [9.6000e+02, 9.6100e+02, 9.6200e+02,  ..., 9.7700e+02,
           9.7800e+02, 9.7900e+02],
          [9.8000e+02, 9.8100e+02, 9.8200e+02,  ..., 9.9700e+02,
           9.9800e+02, 9.9900e+02]],

         [[1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.0170e+03,
           1.0180e+03, 1.0190e+03],
          [1.0200e+03, 1.0210e+03, 1.0220e+03,  ..., 1.0370e+03,
           1.0380e+03, 1.0390e+03],
          [1.0400e+03, 1.0410e+03, 1.0420e+03,  ..., 1.0570e+03,
           1.0580e+03, 1.0590e+03],
          [1.0600e+03, 1.0610e+03, 1.0620e+03,  ..., 1.0770e+03,
           1.0780e+03, 1.0790e+03],
          [1.0800e+03, 1.0810e+03, 1.0820e+03,  ..., 1.0970e+03,
           1.0980e+03, 1.0990e+03]],

         [[1.1000e+03, 1.1010e+03, 1.1020e+03,  ..., 1.1170e+03,
           1.1180e+03, 1.1190e+03],
          [1.1200e+03, 1.1210e+03, 1.1220e+03,  ..., 1.1370e+03,
           1.1380e+03, 1.1390e+03],
          [1.1400e+03, 1.1410e+03, 1.1420e+03,  ..., 1.1570e+03,
           1.1580e+03, 1.1590e+03],
          [1.1600e+03, 1.1610e+03, 1.1620e+03,  ..., 1.1770e+03,
           1.1780e+03, 1.1790e+03],
          [1.1800e+03, 1.1810e+03, 1.1820e+03,  ..., 1.1970e+03,
           1.1980e+03, 1.1990e+03]]]])
]==]},
{dtype='int32',shape={7,8,9,3},fill={1512,1,0},printed=[==[
tensor([[[[   0,    1,    2],
          [   3,    4,    5],
          [   6,    7,    8],
          ...,
          [  18,   19,   20],
          [  21,   22,   23],
          [  24,   25,   26]],

         [[  27,   28,   29],
          [  30,   31,   32],
          [  33,   34,   35],
          ...,
          [  45,   46,   47],
          [  48,   49,   50],
          [  51,   52,   53]],

         [[  54,   55,   56],
          [  57,   58,   59],
          [  60,   61,   62],
          ...,
          [  72,   73,   74],
          [  75,   76,   77],
          [  78,   79,   80]],

         ...,

         [[ 135,  136,  137],
          [ 138,  139,  140],
          [ 141,  142,  143],
          ...,
          [ 153,  154,  155],
          [ 156,  157,  158],
          [ 159,  160,  161]],

         [[ 162,  163,  164],
          [ 165,  166,  167],
          [ 168,  169,  170],
          ...,
          [ 180,  181,  182],
          [ 183,  184,  185],
          [ 186,  187,  188]],

         [[ 189,  190,  191],
          [ 192,  193,  194],
          [ 195,  196,  197],
          ...,
          [ 207,  208,  209],
          [ 210,  211,  212],
          [ 213,  214,  215]]],


        [[[ 216,  217,  218],
          [ 219,  220,  221],
          [ 222,  223,  224],
          ...,
          [ 234,  235,  236],
          [ 237,  238,  239],
          [ 240,  241,  242]],

         [[ 243,  244,  245],
          [ 246,  247,  248],
          [ 249,  250,  251],
          ...,
          [ 261,  262,  263],
          [ 264,  265,  266],
          [ 267,  268,  269]],

         [[ 270,  271,  272],
          [ 273,  274,  275],
          [ 276,  277,  278],
          ...,
          [ 288,  289,  290],
          [ 291,  292,  293],
          [ 294,  295,  296]],

         ...,

         [[ 351,  352,  353],
          [ 354,  355,  356],
          [ 357,  358,  359],
          ...,
          [ 369,  370,  371],
          [ 372,  373,  374],
          [ 375,  376,  377]],

         [[ 378,  379,  380],
          [ 381,  382,  383],
          [ 384,  385,  386],
          ...,
          [ 396,  397,  398],
          [ 399,  400,  401],
          [ 402,  403,  404]],

         [[ 405,  406,  407],
          [ 408,  409,  410],
          [ 411,  412,  413],
          ...,
          [ 423,  424,  425],
          [ 426,  427,  428],
          [ 429,  430,  431]]],


        [[[ 432,  433,  434],
          [ 435,  436,  437],
          [ 438,  439,  440],
          ...,
          [ 450,  451,  452],
          [ 453,  454,  455],
          [ 456,  457,  458]],

         [[ 459,  460,  461],
          [ 462,  463,  464],
          [ 465,  466,  467],
          ...,
          [ 477,  478,  479],
          [ 480,  481,  482],
          [ 483,  484,  485]],

         [[ 486,  487,  488],
          [ 489,  490,  491],
          [ 492,  493,  494],
          ...,
          [ 504,  505,  506],
          [ 507,  508,  509],
          [ 510,  511,  512]],

         ...,

         [[ 567,  568,  569],
          [ 570,  571,  572],
          [ 573,  574,  575],
          ...,
          [ 585,  586,  587],
          [ 588,  589,  590],
          [ 591,  592,  593]],

         [[ 594,  595,  596],
          [ 597,  598,  599],
          [ 600,  601,  602],
          ...,
          [ 612,  613,  614],
          [ 615,  616,  617],
          [ 618,  619,  620]],

         [[ 621,  622,  623],
          [ 624,  625,  626],
          [ 627,  628,  629],
          ...,
          [ 639,  640,  641],
          [ 642,  643,  644],
          [ 645,  646,  647]]],


        ...,


        [[[ 864,  865,  866],
          [ 867,  868,  869],
          [ 870,  871,  872],
          ...,
          [ 882,  883,  884],
          [ 885,  886,  887],
          [ 888,  889,  890]],

         [[ 891,  892,  893],
          [ 894,  895,  896],
          [ 897,  898,  899],
          ...,
          [ 909,  910,  911],
          [ 912,  913,  914],
          [ 915,  916,  917]],

         [[ 918,  919,  920],
          [ 921,  922,  923],
          [ 924,  925,  926],
          ...,
          [ 936,  937,  938],
          [ 939,  940,  941],
          [ 942,  943,  944]],

         ...,

         [[ 999, 1000, 1001],
          [1002, 1003, 1004],
          [1005, 1006, 1007],
          ...,
          [1017, 1018, 1019],
          [1020, 1021, 1022],
          [1023, 1024, 1025]],

         [[1026, 1027, 1028],
          [1029, 1030, 1031],
          [1032, 1033, 1034],
          ...,
          [1044, 1045, 1046],
          [1047, 1048, 1049],
          [1050, 1051, 1052]],

         [[1053, 1054, 1055],
          [1056, 1057, 1058],
          [1059, 1060, 1061],
          ...,
          [1071, 1072, 1073],
          [1074, 1075, 1076],
          [1077, 1078, 1079]]],


        [[[1080, 1081, 1082],
          [1083, 1084, 1085],
          [1086, 1087, 1088],
          ...,
          [1098, 1099, 1100],
          [1101, 1102, 1103],
          [1104, 1105, 1106]],

         [[1107, 1108, 1109],
          [1110, 1111, 1112],
          [1113, 1114, 1115],
          ...,
          [1125, 1126, 1127],
          [1128, 1129, 1130],
          [1131, 1132, 1133]],

         [[1134, 1135, 1136],
          [1137, 1138, 1139],
          [1140, 1141, 1142],
          ...,
          [1152, 1153, 1154],
          [1155, 1156, 1157],
          [1158, 1159, 1160]],

         ...,

         [[1215, 1216, 1217],
          [1218, 1219, 1220],
          [1221, 1222, 1223],
          ...,
          [1233, 1234, 1235],
          [1236, 1237, 1238],
          [1239, 1240, 1241]],

         [[1242, 1243, 1244],
          [1245, 1246, 1247],
          [1248, 1249, 1250],
          ...,
          [1260, 1261, 1262],
          [1263, 1264, 1265],
          [1266, 1267, 1268]],

         [[1269, 1270, 1271],
          [1272, 1273, 1274],
          [1275, 1276, 1277],
          ...,
          [1287, 1288, 1289],
          [1290, 1291, 1292],
          [1293, 1294, 1295]]],


        [[[1296, 1297, 1298],
          [1299, 1300, 1301],
          [1302, 1303, 1304],
          ...,
          [1314, 1315, 1316],
          [1317, 1318, 1319],
          [1320, 1321, 1322]],

         [[1323, 1324, 1325],
          [1326, 1327, 1328],
          [1329, 1330, 1331],
          ...,
          [1341, 1342, 1343],
          [1344, 1345, 1346],
          [1347, 1348, 1349]],

         [[1350, 1351, 1352],
          [1353, 1354, 1355],
          [1356, 1357, 1358],
          ...,
          [1368, 1369, 1370],
          [1371, 1372, 1373],
          [1374, 1375, 1376]],

         ...,

         [[1431, 1432, 1433],
          [1434, 1435, 1436],
          [1437, 1438, 1439],
          ...,
          [1449, 1450, 1451],
          [1452, 1453, 1454],
          [1455, 1456, 1457]],

         [[1458, 1459, 1460],
          [1461, 1462, 1463],
          [1464, 1465, 1466],
          ...,
          [1476, 1477, 1478],
          [1479, 1480, 1481],
          [1482, 1483, 1484]],

         [[1485, 1486, 1487],
          [1488, 1489, 1490],
          [1491, 1492, 1493],
          ...,
          [1503, 1504, 1505],
          [1506, 1507, 1508],
          [1509, 1510, 1511]]]], dtype=torch.int32)
]==]},
{dtype='float32',shape={1001,1},fill={1001,1,0},printed=[==[
tensor([[   0.],
        [   1.],
        [   2.],
        ...,
        [ 998.],
        [ 999.],
        [1000.]])
]==]},
{dtype='bool',shape={1100},fill={1100,1,0},printed='tensor([False,  True,  True,  ...,  True,  True,  True])'},
{dtype='uint8',shape={12,100},fill={1200,0.125,0},printed=[==[
tensor([[  0,   0,   0,  ...,  12,  12,  12],
        [ 12,  12,  12,  ...,  24,  24,  24],
        [ 25,  25,  25,  ...,  37,  37,  37],
        ...,
        [112, 112, 112,  ..., 124, 124, 124],
        [125, 125, 125,  ..., 137, 137, 137],
        [137, 137, 137,  ..., 149, 149, 149]], dtype=torch.uint8)
]==]},
{dtype='float16',shape={50,40},fill={2000,0.5,0},printed=[==[
tensor([[0.0000e+00, 5.0000e-01, 1.0000e+00,  ..., 1.8500e+01, 1.9000e+01,
         1.9500e+01],
        [2.0000e+01, 2.0500e+01, 2.1000e+01,  ..., 3.8500e+01, 3.9000e+01,
         3.9500e+01],
        [4.0000e+01, 4.0500e+01, 4.1000e+01,  ..., 5.8500e+01, 5.9000e+01,
         5.9500e+01],
        ...,
        [9.4000e+02, 9.4050e+02, 9.4100e+02,  ..., 9.5850e+02, 9.5900e+02,
         9.5950e+02],
        [9.6000e+02, 9.6050e+02, 9.6100e+02,  ..., 9.7850e+02, 9.7900e+02,
         9.7950e+02],
        [9.8000e+02, 9.8050e+02, 9.8100e+02,  ..., 9.9850e+02, 9.9900e+02,
         9.9950e+02]], dtype=torch.float16)
]==]},
{dtype='float32',shape={1200},fill={1200,1024.0,0.5},printed=[==[
tensor([5.0000e-01, 1.0245e+03, 2.0485e+03,  ..., 1.2257e+06, 1.2268e+06,
        1.2278e+06])
]==]},
{dtype='float32',shape={1001},fill={1001,0.5,0},requires_grad=true,printed=[==[
tensor([  0.0000,   0.5000,   1.0000,  ..., 499.0000, 499.5000, 500.0000],
       requires_grad=True)
]==]},
{dtype='float32',shape={2,501},fill={1002,1,0},requires_grad=true,printed=[==[
tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 4.9800e+02, 4.9900e+02,
         5.0000e+02],
        [5.0100e+02, 5.0200e+02, 5.0300e+02,  ..., 9.9900e+02, 1.0000e+03,
         1.0010e+03]], requires_grad=True)
]==]},
{dtype='bfloat16',shape={28,28,2},fill={1568,1,0},printed=[==[
tensor([[[0.0000e+00, 1.0000e+00],
         [2.0000e+00, 3.0000e+00],
         [4.0000e+00, 5.0000e+00],
         ...,
         [5.0000e+01, 5.1000e+01],
         [5.2000e+01, 5.3000e+01],
         [5.4000e+01, 5.5000e+01]],

        [[5.6000e+01, 5.7000e+01],
         [5.8000e+01, 5.9000e+01],
         [6.0000e+01, 6.1000e+01],
         ...,
         [1.0600e+02, 1.0700e+02],
         [1.0800e+02, 1.0900e+02],
         [1.1000e+02, 1.1100e+02]],

        [[1.1200e+02, 1.1300e+02],
         [1.1400e+02, 1.1500e+02],
         [1.1600e+02, 1.1700e+02],
         ...,
         [1.6200e+02, 1.6300e+02],
         [1.6400e+02, 1.6500e+02],
         [1.6600e+02, 1.6700e+02]],

        ...,

        [[1.4000e+03, 1.4000e+03],
         [1.4000e+03, 1.4000e+03],
         [1.4080e+03, 1.4080e+03],
         ...,
         [1.4480e+03, 1.4480e+03],
         [1.4560e+03, 1.4560e+03],
         [1.4560e+03, 1.4560e+03]],

        [[1.4560e+03, 1.4560e+03],
         [1.4560e+03, 1.4560e+03],
         [1.4560e+03, 1.4640e+03],
         ...,
         [1.5040e+03, 1.5040e+03],
         [1.5040e+03, 1.5120e+03],
         [1.5120e+03, 1.5120e+03]],

        [[1.5120e+03, 1.5120e+03],
         [1.5120e+03, 1.5120e+03],
         [1.5200e+03, 1.5200e+03],
         ...,
         [1.5600e+03, 1.5600e+03],
         [1.5680e+03, 1.5680e+03],
         [1.5680e+03, 1.5680e+03]]], dtype=torch.bfloat16)
]==]},
{dtype='float16',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], dtype=torch.float16, requires_grad=True)
]==]},
{dtype='float16',shape={},data={1.5},requires_grad=true,printed='tensor(1.5000, dtype=torch.float16, requires_grad=True)'},
{dtype='bfloat16',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], dtype=torch.bfloat16, requires_grad=True)
]==]},
{dtype='bfloat16',shape={},data={1.5},requires_grad=true,printed='tensor(1.5000, dtype=torch.bfloat16, requires_grad=True)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], requires_grad=True)
]==]},
{dtype='float32',shape={},data={1.5},requires_grad=true,printed='tensor(1.5000, requires_grad=True)'},
{dtype='float64',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], dtype=torch.float64, requires_grad=True)
]==]},
{dtype='float64',shape={},data={1.5},requires_grad=true,printed='tensor(1.5000, dtype=torch.float64, requires_grad=True)'},
{dtype='float32',shape={0},data={},requires_grad=true,printed='tensor([], requires_grad=True)'},
{dtype='float32',shape={0,2},data={},requires_grad=true,printed='tensor([], size=(0, 2), requires_grad=True)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='add',printed=[==[
tensor([[ 2.5000, -1.0000],
        [ 1.2500,  4.0000]], grad_fn=<AddBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='sub',printed=[==[
tensor([[-0.5000,  3.0000],
        [ 0.7500, -2.0000]], grad_fn=<RsubBackward1>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='mul',printed=[==[
tensor([[ 3.0000, -4.0000],
        [ 0.5000,  6.0000]], grad_fn=<MulBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='div',printed=[==[
tensor([[ 0.7500, -1.0000],
        [ 0.1250,  1.5000]], grad_fn=<DivBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='neg',printed=[==[
tensor([[-1.5000,  2.0000],
        [-0.2500, -3.0000]], grad_fn=<NegBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='pow',printed=[==[
tensor([[2.2500, 4.0000],
        [0.0625, 9.0000]], grad_fn=<PowBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='exp',printed=[==[
tensor([[ 4.4817,  0.1353],
        [ 1.2840, 20.0855]], grad_fn=<ExpBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='log',printed=[==[
tensor([[1.1787, 1.6094],
        [0.0606, 2.3026]], grad_fn=<LogBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='sqrt',printed=[==[
tensor([[1.5000, 2.0000],
        [0.2500, 3.0000]], grad_fn=<SqrtBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='abs',printed=[==[
tensor([[1.5000, 2.0000],
        [0.2500, 3.0000]], grad_fn=<AbsBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='tanh',printed=[==[
tensor([[ 0.9051, -0.9640],
        [ 0.2449,  0.9951]], grad_fn=<TanhBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='sigmoid',printed=[==[
tensor([[0.8176, 0.1192],
        [0.5622, 0.9526]], grad_fn=<SigmoidBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='relu',printed=[==[
tensor([[1.5000, 0.0000],
        [0.2500, 3.0000]], grad_fn=<ReluBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='clamp',printed=[==[
tensor([[1.0000, 0.0000],
        [0.2500, 1.0000]], grad_fn=<ClampBackward1>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='sum',printed='tensor(2.7500, grad_fn=<SumBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='sum_dim',printed='tensor([1.7500, 1.0000], grad_fn=<SumBackward1>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='mean',printed='tensor(0.6875, grad_fn=<MeanBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='max',printed='tensor(3., grad_fn=<MaxBackward1>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='max_dim',printed='tensor([1.5000, 3.0000], grad_fn=<MaxBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='norm',printed='tensor(3.9131, grad_fn=<LinalgVectorNormBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='softmax',printed=[==[
tensor([[0.9707, 0.0293],
        [0.0601, 0.9399]], grad_fn=<SoftmaxBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='log_softmax',printed=[==[
tensor([[-0.0298, -3.5298],
        [-2.8120, -0.0620]], grad_fn=<LogSoftmaxBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='mm',printed=[==[
tensor([[ 6.2500, -5.6250],
        [-5.6250,  9.0625]], grad_fn=<MmBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='matmul_batched',printed=[==[
tensor([[[ 6.2500, -5.6250],
         [-5.6250,  9.0625]],

        [[ 6.2500, -5.6250],
         [-5.6250,  9.0625]]], grad_fn=<UnsafeViewBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='addmm',printed=[==[
tensor([[  3.2500, -11.0000],
        [  1.3750,  11.5000]], grad_fn=<AddmmBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='t',printed=[==[
tensor([[ 1.5000,  0.2500],
        [-2.0000,  3.0000]], grad_fn=<TBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='transpose',printed=[==[
tensor([[ 1.5000,  0.2500],
        [-2.0000,  3.0000]], grad_fn=<TransposeBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='permute',printed=[==[
tensor([[ 1.5000,  0.2500],
        [-2.0000,  3.0000]], grad_fn=<PermuteBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='view',printed='tensor([ 1.5000, -2.0000,  0.2500,  3.0000], grad_fn=<ViewBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='reshape',printed='tensor([ 1.5000,  0.2500, -2.0000,  3.0000], grad_fn=<UnsafeViewBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='unsqueeze',printed=[==[
tensor([[[ 1.5000, -2.0000],
         [ 0.2500,  3.0000]]], grad_fn=<UnsqueezeBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='squeeze',printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], grad_fn=<SqueezeBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='expand',printed=[==[
tensor([[[ 1.5000, -2.0000],
         [ 0.2500,  3.0000]],

        [[ 1.5000, -2.0000],
         [ 0.2500,  3.0000]]], grad_fn=<ExpandBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='cat',printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000],
        [ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], grad_fn=<CatBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='stack',printed=[==[
tensor([[[ 1.5000, -2.0000],
         [ 0.2500,  3.0000]],

        [[ 1.5000, -2.0000],
         [ 0.2500,  3.0000]]], grad_fn=<StackBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='select',printed='tensor([ 1.5000, -2.0000], grad_fn=<SelectBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='slice',printed=[==[
tensor([[1.5000],
        [0.2500]], grad_fn=<SliceBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='index',printed=[==[
tensor([[ 0.2500,  3.0000],
        [ 1.5000, -2.0000]], grad_fn=<IndexBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='gather',printed='tensor([[1.5000, 3.0000]], grad_fn=<GatherBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='index_select',printed='tensor([[0.2500, 3.0000]], grad_fn=<IndexSelectBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='masked_fill',printed=[==[
tensor([[ 5., -2.],
        [ 5.,  5.]], grad_fn=<MaskedFillBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='where',printed=[==[
tensor([[1.5000, 0.0000],
        [0.2500, 3.0000]], grad_fn=<WhereBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='clone',printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], grad_fn=<CloneBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='double',printed=[==[
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], dtype=torch.float64, grad_fn=<ToCopyBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='cross_entropy',printed='tensor(0.0459, grad_fn=<NllLossBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='mse_loss',printed='tensor(3.8281, grad_fn=<MseLossBackward0>)'},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='linear',printed=[==[
tensor([[-0.5000, -0.5000],
        [ 3.2500,  3.2500]], grad_fn=<AddmmBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='detach',printed=[==[
tensor([[ 3.0000, -4.0000],
        [ 0.5000,  6.0000]])
]==]},
{dtype='float32',shape={2,0},data={},requires_grad=true,expr='sum_dim',printed='tensor([], grad_fn=<SumBackward1>)'},
{dtype='float64',shape={2,2},data={1.5,-2.0,0.25,3.0},requires_grad=true,expr='mul',printed=[==[
tensor([[ 3.0000, -4.0000],
        [ 0.5000,  6.0000]], dtype=torch.float64, grad_fn=<MulBackward0>)
]==]},
{dtype='float32',shape={2,2},data={1.5,-2.0,0.25,3.0},parameter=true,requires_grad=true,printed=[==[
Parameter containing:
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], requires_grad=True)
]==]},
{dtype='float32',shape={2},data={1.5,-2.0},parameter=true,printed=[==[
Parameter containing:
tensor([ 1.5000, -2.0000])
]==]},
{dtype='float64',shape={2,2},data={1.5,-2.0,0.25,3.0},parameter=true,requires_grad=true,printed=[==[
Parameter containing:
tensor([[ 1.5000, -2.0000],
        [ 0.2500,  3.0000]], dtype=torch.float64, requires_grad=True)
]==]},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={precision=0},printed=[==[
tensor([[ 3e+00, -1e-03],
        [ 1e+03,  1e-03]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={precision=0},printed='tensor([1e-06, 2e-03, 1e-01])'},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={precision=1},printed=[==[
tensor([[ 3.1e+00, -1.0e-03],
        [ 1.2e+03,  1.0e-03]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={precision=1},printed='tensor([1.0e-06, 2.5e-03, 1.2e-01])'},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={precision=2},printed=[==[
tensor([[ 3.14e+00, -1.00e-03],
        [ 1.23e+03,  1.00e-03]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={precision=2},printed='tensor([1.00e-06, 2.50e-03, 1.25e-01])'},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={precision=8},printed=[==[
tensor([[ 3.14159274e+00, -1.00000005e-03],
        [ 1.23456775e+03,  1.00000005e-03]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={precision=8},printed='tensor([9.99999997e-07, 2.49999994e-03, 1.25000000e-01])'},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={precision=10},printed=[==[
tensor([[ 3.1415927410e+00, -1.0000000475e-03],
        [ 1.2345677490e+03,  1.0000000475e-03]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={precision=10},printed='tensor([9.9999999748e-07, 2.4999999441e-03, 1.2500000000e-01])'},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={sci_mode=true},printed=[==[
tensor([[ 3.1416e+00, -1.0000e-03],
        [ 1.2346e+03,  1.0000e-03]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={sci_mode=true},printed='tensor([1.0000e-06, 2.5000e-03, 1.2500e-01])'},
{dtype='float32',shape={2},data={1.00000001e-10,1e+10},options={sci_mode=true},printed='tensor([1.0000e-10, 1.0000e+10])'},
{dtype='float32',shape={2},data={1.0,2.0},options={sci_mode=true},printed='tensor([1.0000e+00, 2.0000e+00])'},
{dtype='float32',shape={},data={0.5},options={sci_mode=true},printed='tensor(5.0000e-01)'},
{dtype='float32',shape={2},data={0/0,0.00100000005},options={sci_mode=true,precision=2},printed='tensor([     nan, 1.00e-03])'},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={sci_mode=false},printed=[==[
tensor([[   3.1416,   -0.0010],
        [1234.5677,    0.0010]])
]==]},
{dtype='float32',shape={3},data={9.99999997e-07,0.00249999994,0.125},options={sci_mode=false},printed='tensor([0.0000, 0.0025, 0.1250])'},
{dtype='float32',shape={2},data={1.00000001e-10,1e+10},options={sci_mode=false},printed='tensor([          0.0000, 10000000000.0000])'},
{dtype='float32',shape={2},data={1.0,2.0},options={sci_mode=false},printed='tensor([1., 2.])'},
{dtype='float32',shape={},data={0.5},options={sci_mode=false},printed='tensor(0.5000)'},
{dtype='float32',shape={2},data={0/0,0.00100000005},options={sci_mode=false,precision=2},printed='tensor([ nan, 0.00])'},
{dtype='float32',shape={2,20},fill={40,0.5,0},options={linewidth=20},printed=[==[
tensor([[ 0.0000,
          0.5000,
          1.0000,
          1.5000,
          2.0000,
          2.5000,
          3.0000,
          3.5000,
          4.0000,
          4.5000,
          5.0000,
          5.5000,
          6.0000,
          6.5000,
          7.0000,
          7.5000,
          8.0000,
          8.5000,
          9.0000,
          9.5000],
        [10.0000,
         10.5000,
         11.0000,
         11.5000,
         12.0000,
         12.5000,
         13.0000,
         13.5000,
         14.0000,
         14.5000,
         15.0000,
         15.5000,
         16.0000,
         16.5000,
         17.0000,
         17.5000,
         18.0000,
         18.5000,
         19.0000,
         19.5000]])
]==]},
{dtype='int64',shape={30},fill={30,1,0},options={linewidth=20},printed=[==[
tensor([ 0,  1,  2,
         3,  4,  5,
         6,  7,  8,
         9, 10, 11,
        12, 13, 14,
        15, 16, 17,
        18, 19, 20,
        21, 22, 23,
        24, 25, 26,
        27, 28, 29])
]==]},
{dtype='float32',shape={2,20},fill={40,0.5,0},options={linewidth=40},printed=[==[
tensor([[ 0.0000,  0.5000,  1.0000,
          1.5000,  2.0000,  2.5000,
          3.0000,  3.5000,  4.0000,
          4.5000,  5.0000,  5.5000,
          6.0000,  6.5000,  7.0000,
          7.5000,  8.0000,  8.5000,
          9.0000,  9.5000],
        [10.0000, 10.5000, 11.0000,
         11.5000, 12.0000, 12.5000,
         13.0000, 13.5000, 14.0000,
         14.5000, 15.0000, 15.5000,
         16.0000, 16.5000, 17.0000,
         17.5000, 18.0000, 18.5000,
         19.0000, 19.5000]])
]==]},
{dtype='int64',shape={30},fill={30,1,0},options={linewidth=40},printed=[==[
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,
         8,  9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29])
]==]},
{dtype='float32',shape={2,20},fill={40,0.5,0},options={linewidth=120},printed=[==[
tensor([[ 0.0000,  0.5000,  1.0000,  1.5000,  2.0000,  2.5000,  3.0000,  3.5000,  4.0000,  4.5000,  5.0000,  5.5000,
          6.0000,  6.5000,  7.0000,  7.5000,  8.0000,  8.5000,  9.0000,  9.5000],
        [10.0000, 10.5000, 11.0000, 11.5000, 12.0000, 12.5000, 13.0000, 13.5000, 14.0000, 14.5000, 15.0000, 15.5000,
         16.0000, 16.5000, 17.0000, 17.5000, 18.0000, 18.5000, 19.0000, 19.5000]])
]==]},
{dtype='int64',shape={30},fill={30,1,0},options={linewidth=120},printed=[==[
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
        28, 29])
]==]},
{dtype='int64',shape={40,50},fill={2000,1,0},options={edgeitems=1},printed=[==[
tensor([[   0,  ...,   49],
        ...,
        [1950,  ..., 1999]])
]==]},
{dtype='float32',shape={1001},fill={1001,1,0},options={edgeitems=1,precision=2},printed='tensor([   0.,  ..., 1000.])'},
{dtype='int64',shape={40,50},fill={2000,1,0},options={edgeitems=2},printed=[==[
tensor([[   0,    1,  ...,   48,   49],
        [  50,   51,  ...,   98,   99],
        ...,
        [1900, 1901,  ..., 1948, 1949],
        [1950, 1951,  ..., 1998, 1999]])
]==]},
{dtype='float32',shape={1001},fill={1001,1,0},options={edgeitems=2,precision=2},printed='tensor([   0.,    1.,  ...,  999., 1000.])'},
{dtype='int64',shape={40,50},fill={2000,1,0},options={edgeitems=5},printed=[==[
tensor([[   0,    1,    2,    3,    4,  ...,   45,   46,   47,   48,   49],
        [  50,   51,   52,   53,   54,  ...,   95,   96,   97,   98,   99],
        [ 100,  101,  102,  103,  104,  ...,  145,  146,  147,  148,  149],
        [ 150,  151,  152,  153,  154,  ...,  195,  196,  197,  198,  199],
        [ 200,  201,  202,  203,  204,  ...,  245,  246,  247,  248,  249],
        ...,
        [1750, 1751, 1752, 1753, 1754,  ..., 1795, 1796, 1797, 1798, 1799],
        [1800, 1801, 1802, 1803, 1804,  ..., 1845, 1846, 1847, 1848, 1849],
        [1850, 1851, 1852, 1853, 1854,  ..., 1895, 1896, 1897, 1898, 1899],
        [1900, 1901, 1902, 1903, 1904,  ..., 1945, 1946, 1947, 1948, 1949],
        [1950, 1951, 1952, 1953, 1954,  ..., 1995, 1996, 1997, 1998, 1999]])
]==]},
{dtype='float32',shape={1001},fill={1001,1,0},options={edgeitems=5,precision=2},printed=[==[
tensor([   0.,    1.,    2.,    3.,    4.,  ...,  996.,  997.,  998.,  999.,
        1000.])
]==]},
{dtype='int64',shape={30},fill={30,1,0},options={threshold=10},printed='tensor([ 0,  1,  2,  ..., 27, 28, 29])'},
{dtype='int64',shape={30},fill={30,1,0},options={threshold=30},printed=[==[
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
]==]},
{dtype='float32',shape={5,6,7},fill={210,0.5,0},options={threshold=100,edgeitems=2},printed=[==[
tensor([[[  0.0000,   0.5000,  ...,   2.5000,   3.0000],
         [  3.5000,   4.0000,  ...,   6.0000,   6.5000],
         ...,
         [ 14.0000,  14.5000,  ...,  16.5000,  17.0000],
         [ 17.5000,  18.0000,  ...,  20.0000,  20.5000]],

        [[ 21.0000,  21.5000,  ...,  23.5000,  24.0000],
         [ 24.5000,  25.0000,  ...,  27.0000,  27.5000],
         ...,
         [ 35.0000,  35.5000,  ...,  37.5000,  38.0000],
         [ 38.5000,  39.0000,  ...,  41.0000,  41.5000]],

        ...,

        [[ 63.0000,  63.5000,  ...,  65.5000,  66.0000],
         [ 66.5000,  67.0000,  ...,  69.0000,  69.5000],
         ...,
         [ 77.0000,  77.5000,  ...,  79.5000,  80.0000],
         [ 80.5000,  81.0000,  ...,  83.0000,  83.5000]],

        [[ 84.0000,  84.5000,  ...,  86.5000,  87.0000],
         [ 87.5000,  88.0000,  ...,  90.0000,  90.5000],
         ...,
         [ 98.0000,  98.5000,  ..., 100.5000, 101.0000],
         [101.5000, 102.0000,  ..., 104.0000, 104.5000]]])
]==]},
{dtype='float32',shape={33,31},fill={1023,0.25,-9},options={profile='default'},printed=[==[
tensor([[ -9.0000,  -8.7500,  -8.5000,  ...,  -2.0000,  -1.7500,  -1.5000],
        [ -1.2500,  -1.0000,  -0.7500,  ...,   5.7500,   6.0000,   6.2500],
        [  6.5000,   6.7500,   7.0000,  ...,  13.5000,  13.7500,  14.0000],
        ...,
        [223.5000, 223.7500, 224.0000,  ..., 230.5000, 230.7500, 231.0000],
        [231.2500, 231.5000, 231.7500,  ..., 238.2500, 238.5000, 238.7500],
        [239.0000, 239.2500, 239.5000,  ..., 246.0000, 246.2500, 246.5000]])
]==]},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={profile='default'},printed=[==[
tensor([[ 3.1416e+00, -1.0000e-03],
        [ 1.2346e+03,  1.0000e-03]])
]==]},
{dtype='float32',shape={33,31},fill={1023,0.25,-9},options={profile='short'},printed=[==[
tensor([[ -9.00,  -8.75,  ...,  -1.75,  -1.50],
        [ -1.25,  -1.00,  ...,   6.00,   6.25],
        ...,
        [231.25, 231.50,  ..., 238.50, 238.75],
        [239.00, 239.25,  ..., 246.25, 246.50]])
]==]},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={profile='short'},printed=[==[
tensor([[ 3.14e+00, -1.00e-03],
        [ 1.23e+03,  1.00e-03]])
]==]},
{dtype='float32',shape={33,31},fill={1023,0.25,-9},options={profile='full'},printed=[==[
tensor([[ -9.0000,  -8.7500,  -8.5000,  -8.2500,  -8.0000,  -7.7500,  -7.5000,
          -7.2500,  -7.0000,  -6.7500,  -6.5000,  -6.2500,  -6.0000,  -5.7500,
          -5.5000,  -5.2500,  -5.0000,  -4.7500,  -4.5000,  -4.2500,  -4.0000,
          -3.7500,  -3.5000,  -3.2500,  -3.0000,  -2.7500,  -2.5000,  -2.2500,
          -2.0000,  -1.7500,  -1.5000],
        [ -1.2500,  -1.0000,  -0.7500,  -0.5000,  -0.2500,   0.0000,   0.2500,
           0.5000,   0.7500,   1.0000,   1.2500,   1.5000,   1.7500,   2.0000,
           2.2500,   2.5000,   2.7500,   3.0000,   3.2500,   3.5000,   3.7500,
           4.0000,   4.2500,   4.5000,   4.7500,   5.0000,   5.2500,   5.5000,
           5.7500,   6.0000,   6.2500],
        [  6.5000,   6.7500,   7.0000,   7.2500,   7.5000,   7.7500,   8.0000,
           8.2500,   8.5000,   8.7500,   9.0000,   9.2500,   9.5000,   9.7500,
          10.0000,  10.2500,  10.5000,  10.7500,  11.0000,  11.2500,  11.5000,
          11.7500,  12.0000,  12.2500,  12.5000,  12.7500,  13.0000,  13.2500,
          13.5000,  13.7500,  14.0000],
        [ 14.2500,  14.5000,  14.7500,  15.0000,  15.2500,  15.5000,  15.7500,
          16.0000,  16.2500,  16.5000,  16.7500,  17.0000,  17.2500,  17.5000,
          17.7500,  18.0000,  18.2500,  18.5000,  18.7500,  19.0000,  19.2500,
          19.5000,  19.7500,  20.0000,  20.2500,  20.5000,  20.7500,  21.0000,
          21.2500,  21.5000,  21.7500],
        [ 22.0000,  22.2500,  22.5000,  22.7500,  23.0000,  23.2500,  23.5000,
          23.7500,  24.0000,  24.2500,  24.5000,  24.7500,  25.0000,  25.2500,
          25.5000,  25.7500,  26.0000,  26.2500,  26.5000,  26.7500,  27.0000,
          27.2500,  27.5000,  27.7500,  28.0000,  28.2500,  28.5000,  28.7500,
          29.0000,  29.2500,  29.5000],
        [ 29.7500,  30.0000,  30.2500,  30.5000,  30.7500,  31.0000,  31.2500,
          31.5000,  31.7500,  32.0000,  32.2500,  32.5000,  32.7500,  33.0000,
          33.2500,  33.5000,  33.7500,  34.0000,  34.2500,  34.5000,  34.7500,
          35.0000,  35.2500,  35.5000,  35.7500,  36.0000,  36.2500,  36.5000,
          36.7500,  37.0000,  37.2500],
        [ 37.5000,  37.7500,  38.0000,  38.2500,  38.5000,  38.7500,  39.0000,
          39.2500,  39.5000,  39.7500,  40.0000,  40.2500,  40.5000,  40.7500,
          41.0000,  41.2500,  41.5000,  41.7500,  42.0000,  42.2500,  42.5000,
          42.7500,  43.0000,  43.2500,  43.5000,  43.7500,  44.0000,  44.2500,
          44.5000,  44.7500,  45.0000],
        [ 45.2500,  45.5000,  45.7500,  46.0000,  46.2500,  46.5000,  46.7500,
          47.0000,  47.2500,  47.5000,  47.7500,  48.0000,  48.2500,  48.5000,
          48.7500,  49.0000,  49.2500,  49.5000,  49.7500,  50.0000,  50.2500,
          50.5000,  50.7500,  51.0000,  51.2500,  51.5000,  51.7500,  52.0000,
          52.2500,  52.5000,  52.7500],
        [ 53.0000,  53.2500,  53.5000,  53.7500,  54.0000,  54.2500,  54.5000,
          54.7500,  55.0000,  55.2500,  55.5000,  55.7500,  56.0000,  56.2500,
          56.5000,  56.7500,  57.0000,  57.2500,  57.5000,  57.7500,  58.0000,
          58.2500,  58.5000,  58.7500,  59.0000,  59.2500,  59.5000,  59.7500,
          60.0000,  60.2500,  60.5000],
        [ 60.7500,  61.0000,  61.2500,  61.5000,  61.7500,  62.0000,  62.2500,
          62.5000,  62.7500,  63.0000,  63.2500,  63.5000,  63.7500,  64.0000,
          64.2500,  64.5000,  64.7500,  65.0000,  65.2500,  65.5000,  65.7500,
          66.0000,  66.2500,  66.5000,  66.7500,  67.0000,  67.2500,  67.5000,
          67.7500,  68.0000,  68.2500],
        [ 68.5000,  68.7500,  69.0000,  69.2500,  69.5000,  69.7500,  70.0000,
          70.2500,  70.5000,  70.7500,  71.0000,  71.2500,  71.5000,  71.7500,
          72.0000,  72.2500,  72.5000,  72.7500,  73.0000,  73.2500,  73.5000,
          73.7500,  74.0000,  74.2500,  74.5000,  74.7500,  75.0000,  75.2500,
          75.5000,  75.7500,  76.0000],
        [ 76.2500,  76.5000,  76.7500,  77.0000,  77.2500,  77.5000,  77.7500,
          78.0000,  78.2500,  78.5000,  78.7500,  79.0000,  79.2500,  79.5000,
          79.7500,  80.0000,  80.2500,  80.5000,  80.7500,  81.0000,  81.2500,
          81.5000,  81.7500,  82.0000,  82.2500,  82.5000,  82.7500,  83.0000,
          83.2500,  83.5000,  83.7500],
        [ 84.0000,  84.2500,  84.5000,  84.7500,  85.0000,  85.2500,  85.5000,
          85.7500,  86.0000,  86.2500,  86.5000,  86.7500,  87.0000,  87.2500,
          87.5000,  87.7500,  88.0000,  88.2500,  88.5000,  88.7500,  89.0000,
          89.2500,  89.5000,  89.7500,  90.0000,  90.2500,  90.5000,  90.7500,
          91.0000,  91.2500,  91.5000],
        [ 91.7500,  92.0000,  92.2500,  92.5000,  92.7500,  93.0000,  93.2500,
          93.5000,  93.7500,  94.0000,  94.2500,  94.5000,  94.7500,  95.0000,
          95.2500,  95.5000,  95.7500,  96.0000,  96.2500,  96.5000,  96.7500,
          97.0000,  97.2500,  97.5000,  97.7500,  98.0000,  98.2500,  98.5000,
          98.7500,  99.0000,  99.2500],
        [ 99.5000,  99.7500, 100.0000, 100.2500, 100.5000, 100.7500, 101.0000,
         101.2500, 101.5000, 101.7500, 102.0000, 102.2500, 102.5000, 102.7500,
         103.0000, 103.2500, 103.5000, 103.7500, 104.0000, 104.2500, 104.5000,
         104.7500, 105.0000, 105.2500, 105.5000, 105.7500, 106.0000, 106.2500,
         106.5000, 106.7500, 107.0000],
        [107.2500, 107.5000, 107.7500, 108.0000, 108.2500, 108.5000, 108.7500,
         109.0000, 109.2500, 109.5000, 109.7500, 110.0000, 110.2500, 110.5000,
         110.7500, 111.0000, 111.2500, 111.5000, 111.7500, 112.0000, 112.2500,
         112.5000, 112.7500, 113.0000, 113.2500, 113.5000, 113.7500, 114.0000,
         114.2500, 114.5000, 114.7500],
        [115.0000, 115.2500, 115.5000, 115.7500, 116.0000, 116.2500, 116.5000,
         116.7500, 117.0000, 117.2500, 117.5000, 117.7500, 118.0000, 118.2500,
         118.5000, 118.7500, 119.0000, 119.2500, 119.5000, 119.7500, 120.0000,
         120.2500, 120.5000, 120.7500, 121.0000, 121.2500, 121.5000, 121.7500,
         122.0000, 122.2500, 122.5000],
        [122.7500, 123.0000, 123.2500, 123.5000, 123.7500, 124.0000, 124.2500,
         124.5000, 124.7500, 125.0000, 125.2500, 125.5000, 125.7500, 126.0000,
         126.2500, 126.5000, 126.7500, 127.0000, 127.2500, 127.5000, 127.7500,
         128.0000, 128.2500, 128.5000, 128.7500, 129.0000, 129.2500, 129.5000,
         129.7500, 130.0000, 130.2500],
        [130.5000, 130.7500, 131.0000, 131.2500, 131.5000, 131.7500, 132.0000,
         132.2500, 132.5000, 132.7500, 133.0000, 133.2500, 133.5000, 133.7500,
         134.0000, 134.2500, 134.5000, 134.7500, 135.0000, 135.2500, 135.5000,
         135.7500, 136.0000, 136.2500, 136.5000, 136.7500, 137.0000, 137.2500,
         137.5000, 137.7500, 138.0000],
        [138.2500, 138.5000, 138.7500, 139.0000, 139.2500, 139.5000, 139.7500,
         140.0000, 140.2500, 140.5000, 140.7500, 141.0000, 141.2500, 141.5000,
         141.7500, 142.0000, 142.2500, 142.5000, 142.7500, 143.0000, 143.2500,
         143.5000, 143.7500, 144.0000, 144.2500, 144.5000, 144.7500, 145.0000,
         145.2500, 145.5000, 145.7500],
        [146.0000, 146.2500, 146.5000, 146.7500, 147.0000, 147.2500, 147.5000,
         147.7500, 148.0000, 148.2500, 148.5000, 148.7500, 149.0000, 149.2500,
         149.5000, 149.7500, 150.0000, 150.2500, 150.5000, 150.7500, 151.0000,
         151.2500, 151.5000, 151.7500, 152.0000, 152.2500, 152.5000, 152.7500,
         153.0000, 153.2500, 153.5000],
        [153.7500, 154.0000, 154.2500, 154.5000, 154.7500, 155.0000, 155.2500,
         155.5000, 155.7500, 156.0000, 156.2500, 156.5000, 156.7500, 157.0000,
         157.2500, 157.5000, 157.7500, 158.0000, 158.2500, 158.5000, 158.7500,
         159.0000, 159.2500, 159.5000, 159.7500, 160.0000, 160.2500, 160.5000,
         160.7500, 161.0000, 161.2500],
        [161.5000, 161.7500, 162.0000, 162.2500, 162.5000, 162.7500, 163.0000,
         163.2500, 163.5000, 163.7500, 164.0000, 164.2500, 164.5000, 164.7500,
         165.0000, 165.2500, 165.5000, 165.7500, 166.0000, 166.2500, 166.5000,
         166.7500, 167.0000, 167.2500, 167.5000, 167.7500, 168.0000, 168.2500,
         168.5000, 168.7500, 169.0000],
        [169.2500, 169.5000, 169.7500, 170.0000, 170.2500, 170.5000, 170.7500,
         171.0000, 171.2500, 171.5000, 171.7500, 172.0000, 172.2500, 172.5000,
         172.7500, 173.0000, 173.2500, 173.5000, 173.7500, 174.0000, 174.2500,
         174.5000, 174.7500, 175.0000, 175.2500, 175.5000, 175.7500, 176.0000,
         176.2500, 176.5000, 176.7500],
        [177.0000, 177.2500, 177.5000, 177.7500, 178.0000, 178.2500, 178.5000,
         178.7500, 179.0000, 179.2500, 179.5000, 179.7500, 180.0000, 180.2500,
         180.5000, 180.7500, 181.0000, 181.2500, 181.5000, 181.7500, 182.0000,
         182.2500, 182.5000, 182.7500, 183.0000, 183.2500, 183.5000, 183.7500,
         184.0000, 184.2500, 184.5000],
        [184.7500, 185.0000, 185.2500, 185.5000, 185.7500, 186.0000, 186.2500,
         186.5000, 186.7500, 187.0000, 187.2500, 187.5000, 187.7500, 188.0000,
         188.2500, 188.5000, 188.7500, 189.0000, 189.2500, 189.5000, 189.7500,
         190.0000, 190.2500, 190.5000, 190.7500, 191.0000, 191.2500, 191.5000,
         191.7500, 192.0000, 192.2500],
        [192.5000, 192.7500, 193.0000, 193.2500, 193.5000, 193.7500, 194.0000,
         194.2500, 194.5000, 194.7500, 195.0000, 195.2500, 195.5000, 195.7500,
         196.0000, 196.2500, 196.5000, 196.7500, 197.0000, 197.2500, 197.5000,
         197.7500, 198.0000, 198.2500, 198.5000, 198.7500, 199.0000, 199.2500,
         199.5000, 199.7500, 200.0000],
        [200.2500, 200.5000, 200.7500, 201.0000, 201.2500, 201.5000, 201.7500,
         202.0000, 202.2500, 202.5000, 202.7500, 203.0000, 203.2500, 203.5000,
         203.7500, 204.0000, 204.2500, 204.5000, 204.7500, 205.0000, 205.2500,
         205.5000, 205.7500, 206.0000, 206.2500, 206.5000, 206.7500, 207.0000,
         207.2500, 207.5000, 207.7500],
        [208.0000, 208.2500, 208.5000, 208.7500, 209.0000, 209.2500, 209.5000,
         209.7500, 210.0000, 210.2500, 210.5000, 210.7500, 211.0000, 211.2500,
         211.5000, 211.7500, 212.0000, 212.2500, 212.5000, 212.7500, 213.0000,
         213.2500, 213.5000, 213.7500, 214.0000, 214.2500, 214.5000, 214.7500,
         215.0000, 215.2500, 215.5000],
        [215.7500, 216.0000, 216.2500, 216.5000, 216.7500, 217.0000, 217.2500,
         217.5000, 217.7500, 218.0000, 218.2500, 218.5000, 218.7500, 219.0000,
         219.2500, 219.5000, 219.7500, 220.0000, 220.2500, 220.5000, 220.7500,
         221.0000, 221.2500, 221.5000, 221.7500, 222.0000, 222.2500, 222.5000,
         222.7500, 223.0000, 223.2500],
        [223.5000, 223.7500, 224.0000, 224.2500, 224.5000, 224.7500, 225.0000,
         225.2500, 225.5000, 225.7500, 226.0000, 226.2500, 226.5000, 226.7500,
         227.0000, 227.2500, 227.5000, 227.7500, 228.0000, 228.2500, 228.5000,
         228.7500, 229.0000, 229.2500, 229.5000, 229.7500, 230.0000, 230.2500,
         230.5000, 230.7500, 231.0000],
        [231.2500, 231.5000, 231.7500, 232.0000, 232.2500, 232.5000, 232.7500,
         233.0000, 233.2500, 233.5000, 233.7500, 234.0000, 234.2500, 234.5000,
         234.7500, 235.0000, 235.2500, 235.5000, 235.7500, 236.0000, 236.2500,
         236.5000, 236.7500, 237.0000, 237.2500, 237.5000, 237.7500, 238.0000,
         238.2500, 238.5000, 238.7500],
        [239.0000, 239.2500, 239.5000, 239.7500, 240.0000, 240.2500, 240.5000,
         240.7500, 241.0000, 241.2500, 241.5000, 241.7500, 242.0000, 242.2500,
         242.5000, 242.7500, 243.0000, 243.2500, 243.5000, 243.7500, 244.0000,
         244.2500, 244.5000, 244.7500, 245.0000, 245.2500, 245.5000, 245.7500,
         246.0000, 246.2500, 246.5000]])
]==]},
{dtype='float32',shape={2,2},data={3.14159274,-0.00100000005,1234.56775,0.00100000005},options={profile='full'},printed=[==[
tensor([[ 3.1416e+00, -1.0000e-03],
        [ 1.2346e+03,  1.0000e-03]])
]==]},
{dtype='float32',shape={2},data={1.0,2.0},default_dtype='float64',printed='tensor([1., 2.], dtype=torch.float32)'},
{dtype='float64',shape={2},data={1.0,2.0},default_dtype='float64',printed='tensor([1., 2.])'},
{dtype='float16',shape={2},data={1.0,2.0},default_dtype='float64',printed='tensor([1., 2.], dtype=torch.float16)'},
{dtype='int64',shape={2},data={1,2},default_dtype='float64',printed='tensor([1, 2])'},
{dtype='float32',shape={2},data={1.0,2.0},default_dtype='float16',printed='tensor([1., 2.], dtype=torch.float32)'},
{dtype='float64',shape={2},data={1.0,2.0},default_dtype='float16',printed='tensor([1., 2.], dtype=torch.float64)'},
{dtype='float16',shape={2},data={1.0,2.0},default_dtype='float16',printed='tensor([1., 2.])'},
{dtype='int64',shape={2},data={1,2},default_dtype='float16',printed='tensor([1, 2])'},
{dtype='float32',shape={2},data={1.0,2.0},default_dtype='float32',printed='tensor([1., 2.])'},
{dtype='float64',shape={2},data={1.0,2.0},default_dtype='float32',printed='tensor([1., 2.], dtype=torch.float64)'},
{dtype='float16',shape={2},data={1.0,2.0},default_dtype='float32',printed='tensor([1., 2.], dtype=torch.float16)'},
{dtype='int64',shape={2},data={1,2},default_dtype='float32',printed='tensor([1, 2])'},
{dtype='float32',shape={0},data={},default_dtype='float64',printed='tensor([], dtype=torch.float32)'},
}
