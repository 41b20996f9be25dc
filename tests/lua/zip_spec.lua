-- Zip archives that lie (tests/files/archives.lua, made by generate_archives.py): each is an error that says what is wrong. What
-- Python's zipfile refuses is refused, and what different readers would take for different files is refused too.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local archives = dofile(here .. '../files/archives.lua')

local folder
setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
teardown(function() process.run('rm -rf ' .. folder) end)

local function write(content)
  local path = folder .. '/x.npz'
  local file = assert(io.open(path, 'wb'))
  file:write(content)
  file:close()
  return path
end

-- The names of the two arrays, where they are not a and b.
local sound = { plain = true, deflated = true, ['zip64 records'] = true, ['zip64 sizes'] = true, ['zip64 sizes in one place alone'] = true,
  ['data descriptors'] = true, ['a comment'] = true, ['names that lead out of a folder'] = { '../../a', '/b' } }

local elsewhere, another = 'overlaps another entry or the end of the file', "the local header of entry 'a.npy' differs from the directory"
local no_end, no_directory = 'its directory is damaged: it does not end where it should', 'without its directory: cut short or damaged'
local messages = {
  ['two entries in one place'] = "entry 'a.npy' " .. elsewhere,
  ['a quoted overlap'] = "entry 'a.npy' " .. elsewhere,
  ['an entry that reaches into the next'] = "entry 'a.npy' " .. elsewhere,
  ['an entry that reaches into the directory'] = "entry 'b.npy' " .. elsewhere,
  ['an entry in the directory'] = "entry 'b.npy' " .. elsewhere,
  ['an entry outside of the file'] = "entry 'b.npy' " .. elsewhere,
  ['an entry longer than the file'] = "entry 'b.npy' " .. elsewhere,
  ['two entries of one name'] = "two entries are named 'a.npy'",
  ['a zero byte in a name'] = "the name of entry 'a.npy?.txt' has a zero byte in it",
  ['a name that is no UTF-8 and says so'] = "is marked as UTF-8 but is not valid",
  ['a name longer than the directory'] = 'its directory is damaged',
  ['another name in its place'] = "entry 'a.npy' has another name in its local header",
  ['another method in its place'] = another,
  ['another size in its place'] = another,
  ['another packed size in its place'] = another,
  ['another checksum in its place'] = another,
  ['encrypted in its place alone'] = another,
  ['other zip64 sizes in its place'] = another,
  ['no header in its place'] = "entry 'a.npy' is damaged",
  ['an extra field longer than the entry in its place'] = "entry 'a.npy' reaches into another one",
  ['less than it promises'] = "'a.npy': 3 elements of 1 bytes are promised, 4 bytes follow",
  ['more than it promises'] = "'a.npy': 100000 elements of 1 bytes are promised, 72 bytes follow: cut short",
  ['more than deflate can reach'] = '71 bytes cannot unpack to 1073741824',
  ['stored, of two sizes'] = '131 bytes cannot unpack to 132',
  ['bytes after its compressed data'] = 'bytes follow its compressed data',
  ['damaged data'] = "entry 'a.npy' is damaged: its checksum is another",
  ['damaged compressed data'] = 'its compressed data are damaged',
  ['a zip64 field that is missing'] = "entry 'a.npy' " .. elsewhere,
  ['a zip64 field that is too short'] = 'a zip64 field is too short',
  ['a zip64 field longer than the extra field'] = "entry 'a.npy' " .. elsewhere,
  ['negative zip64 sizes'] = 'its directory is damaged',
  ['a zip64 offset outside'] = "entry 'a.npy' " .. elsewhere,
  ['a zip64 record outside'] = 'its zip64 record is outside of the file',
  ['a zip64 record that is none'] = 'its zip64 record is damaged',
  ['a zip64 record of other numbers'] = 'its directory has 2 entries and promises 1',
  ['a zip64 record of an absurd directory'] = no_end,
  ['a negative zip64 count'] = no_end,
  ['an encrypted entry'] = "entry 'a.npy' is encrypted",
  ['a strongly encrypted entry'] = "entry 'a.npy' is encrypted",
  ['a patched entry'] = "entry 'a.npy' is a patch for another file",
  ['an unknown method'] = "entry 'a.npy' is compressed by method 99",
  ['a version to come'] = "entry 'a.npy' needs version 99 of the zip format, which is not supported",
  ['an archive in several files'] = 'a part of a zip archive in several files',
  ['an entry of another file'] = "entry 'a.npy' is in another file of a multi-file archive",
  ['a promise of more entries'] = 'its directory has 2 entries and promises 9',
  ['a promise of fewer entries'] = 'its directory has 2 entries and promises 1',
  ['a directory that begins elsewhere'] = no_end,
  ['a directory of another size'] = no_end,
  ['a directory with a line cut short'] = 'its directory is damaged',
  ['bytes after the directory'] = no_end,
  ['bytes before the archive'] = 'no zip archive',
  ['bytes after the archive'] = no_directory,
  ['an end in the comment'] = no_end,
  ['a comment cut short'] = no_directory,
  ['cut short'] = no_directory,
}

describe('a zip archive #cpu', function()
  for _, archive in ipairs(archives) do
    local name, content, python_raises = table.unpack(archive, 1, 3)
    local names, message = sound[name], messages[name]
    it((names and 'is read: ' or 'is refused: ') .. name, function()
      if names then
        assert.is_nil(python_raises)
        local a, b = 'a', 'b'
        if type(names) == 'table' then a, b = table.unpack(names) end
        local dict = torch.load(write(content))
        assert.same({ 1, 2, 3 }, dict[a]:tolist())
        assert.same({ 4, 5 }, dict[b]:tolist())
      else
        local ok, got = pcall(torch.load, write(content))
        assert.is_false(ok)
        assert.truthy(got:find(folder .. '/x.npz', 1, true) and got:find(message, 1, true), got)
      end
    end)
  end
end)
