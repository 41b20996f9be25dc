-- state.lua - the world of this process, or of this rank of a world in one process (fake.lua).
--
-- here.current: nil before init_process_group; { world =, default = the group of all ranks, groups
-- = all created groups, backend =, timeout = }. here.pause: yields to other ranks of the same
-- process; nil without them.

return { current = nil, pause = nil }
