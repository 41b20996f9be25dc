-- state.lua - the world that this process, or this rank of a world in one process (fake.lua), is in.
--
-- here.current: nil before init_process_group; { world =, default = the group of all, groups = those that were made, backend =,
-- timeout = }. here.pause: what gives other ranks of the same process a turn; nil where there are none.

return { current = nil, pause = nil }
