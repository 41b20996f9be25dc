-- file_kinds.lua - recognizes files that torch.load does not read, for its error message.

local M = {}

-- The first bytes of a file (as a pattern, after an offset), its format, and the function that
-- reads it.
local kinds = {
  { '^\x89PNG', 'a PNG image', 'torch.utils.data.read_image reads it' },
  { '^\xff\xd8\xff', 'a JPEG image', 'torch.utils.data.read_image reads it' },
  { '^GIF8', 'a GIF image' }, { '^BM....\0\0\0\0', 'a BMP image' }, { '^II%*\0', 'a TIFF image' }, { '^MM\0%*', 'a TIFF image' },
  { '^RIFF....WAVE', 'a WAV sound file' }, { '^RIFF....WEBP', 'a WebP image' }, { '^RIFF....AVI ', 'an AVI video' },
  { '^OggS', 'an Ogg sound file' }, { '^fLaC', 'a FLAC sound file' }, { '^ID3', 'an MP3 sound file' }, { '^....ftyp', 'an MP4 file' },
  { '^\x1f\x8b', 'compressed by gzip', 'gunzip unpacks it' }, { '^BZh[1-9]', 'compressed by bzip2', 'bunzip2 unpacks it' },
  { '^\xfd7zXZ', 'compressed by xz', 'unxz unpacks it' }, { '^\x28\xb5\x2f\xfd', 'compressed by zstd', 'unzstd unpacks it' },
  { '^7z\xbc\xaf', 'a 7z archive' }, { '^Rar!', 'a RAR archive' },
  { '^\x89HDF', 'an HDF5 file (of Keras, or MATLAB 7.3)', 'h5py reads it in Python; save its arrays as .npz or safetensors' },
  { '^MATLAB 5', 'a MATLAB file', 'scipy.io.loadmat reads it in Python; save its arrays as .npz' },
  { '^GGUF', 'a GGUF file (of llama.cpp)', 'torch.lm.load reads it' }, { '^....TFL3', 'a TensorFlow Lite model' }, { '^PAR1', 'a Parquet table' },
  { '^ARROW1', 'an Arrow table' }, { '^SQLite format 3', 'an SQLite database' }, { '^%%PDF', 'a PDF document' }, { '^\x7fELF', 'a program' },
  { '^\x80[\2-\5]', 'a pickle', 'torch.save in PyTorch makes a file that is read' },
  -- protobuf: ir_version, a small number, then the name of the producer, or the graph
  { '^\x08[\1-\x20][\x12\x1a\x22\x3a]', 'an ONNX model', 'torch.onnx.load reads it' }, { '^\x12.[\x20-\x7e]', 'an ONNX model', 'torch.onnx.load reads it' },
  { '^%s*<!?[%a]', 'a page of HTML or XML', 'a download may have brought an error message instead of the file' },
  { '^version https://git%-lfs', 'a pointer of Git LFS', 'git lfs pull fetches the file itself' },
  { '^%s*[%[{]%s*["%[%]{}%d]', 'a JSON text' },
}

local function is_text(start)
  if start:find '[%z\1-\8\14-\31]' then return false end
  return utf8.len(start) ~= nil or utf8.len(start:sub(1, -4), 1, -1, true) ~= nil
end

--- The format of a file with these first bytes, and the function that reads it (nil: none); nil for
-- an unknown format.
function M.of(start)
  if #start == 0 then return 'an empty file' end
  for _, kind in ipairs(kinds) do
    if start:find(kind[1]) then return kind[2], kind[3] end
  end
  if is_text(start) then return 'a text', 'torch.utils.data.csv reads tables, torch.utils.data.text lines' end
end

return M
