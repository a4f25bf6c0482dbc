-- What a user does in Neovim, one JSON line for each result on standard output:
--   nvim --headless --clean -l neovim.lua FILE SERVER
-- FILE has a misspelt key with one obvious fix; the marker ▮ in it is where completion is asked for, and is removed.
local file, server = vim.fn.fnamemodify(arg[1], ':p'), arg[2]
-- Milliseconds that an event may take: it bounds a hang, whatever else the machine does.
local patience = 300000

local function emit(name, value)
  io.stdout:write(vim.json.encode({ [name] = value }), '\n')
  io.stdout:flush()
end

local function wait(what, condition)
  assert(vim.wait(patience, condition, 5), 'waited in vain for ' .. what)
end

local function buffer()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n'
end

local function diagnostics()
  return vim.tbl_map(function(found)
    return { line = found.lnum, column = found.col, code = found.code, source = found.source, message = found.message }
  end, vim.diagnostic.get(0))
end

vim.cmd.filetype('on')
vim.cmd.edit(vim.fn.fnameescape(file))
local id = assert(vim.lsp.start({ name = 'llsd', cmd = { server, 'lsp' }, root_dir = vim.fs.dirname(file) }))
local client = assert(vim.lsp.get_client_by_id(id))
local function ask(method, params)
  params.textDocument = vim.lsp.util.make_text_document_params(0)
  local answer = assert(client:request_sync(method, params, patience, 0))
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
emit('server', { info = client.server_info, encoding = client.offset_encoding, filetype = vim.bo.filetype })

-- Completion at the marker, accepted with the first offer.
local line = vim.fn.search('▮', 'nw') - 1
local text = vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1]
local column = text:find('▮', 1, true) - 1
vim.api.nvim_buf_set_text(0, line, column, line, column + #'▮', { '' })
vim.api.nvim_win_set_cursor(0, { line + 1, column })
local position = vim.lsp.util.make_position_params(0, client.offset_encoding).position
local offers = ask('textDocument/completion', { position = position })
offers = offers.items or offers
emit('completion', vim.tbl_map(function(item) return item.label end, offers))
table.sort(offers, function(a, b) return a.sortText < b.sortText end)
offers = vim.tbl_filter(function(item) return vim.startswith(item.filterText, 'vll') end, offers)
vim.lsp.util.apply_text_edits({ assert(offers[1], 'no offer').textEdit }, vim.api.nvim_get_current_buf(), client.offset_encoding)
emit('completed', buffer())
local settled = vim.api.nvim_buf_get_changedtick(0)

-- What is wrong now, without the half-typed word.
wait('fresh diagnostics', function()
  local found = vim.diagnostic.get(0)
  return #found == 1 and vim.api.nvim_buf_get_changedtick(0) == settled
end)
emit('diagnostics', diagnostics())

local hover = ask('textDocument/hover', { position = { line = line, character = column - 1 } })
emit('hover', hover and hover.contents.value)

-- The fix, through Neovim's own code action command.
local wrong = vim.diagnostic.get(0)[1]
vim.api.nvim_win_set_cursor(0, { wrong.lnum + 1, wrong.col })
vim.lsp.buf.code_action({ apply = true, context = { only = { 'quickfix' }, diagnostics = {} } })
wait('the fix', function() return vim.api.nvim_buf_get_changedtick(0) ~= settled end)
emit('fixed', buffer())
wait('a clean buffer', function() return #vim.diagnostic.get(0) == 0 end)

-- A provider's id, where it is declared and where it is used; then the layout.
local before = vim.api.nvim_buf_get_changedtick(0)
vim.api.nvim_win_set_cursor(0, { vim.fn.search('id: main', 'nw'), 12 })
vim.lsp.buf.rename('renamed')
wait('the rename', function() return vim.api.nvim_buf_get_changedtick(0) ~= before end)
emit('renamed', buffer())
vim.lsp.buf.format({ timeout_ms = patience })
emit('formatted', buffer())

local preview = ask('llsd/preview', { position = { line = line, character = 0 } })
emit('preview', preview)

-- An older resource in the same buffer, migrated.
local older = vim.fn.readfile(arg[3])
vim.api.nvim_buf_set_lines(0, 0, -1, false, older)
vim.api.nvim_win_set_cursor(0, { vim.fn.search('^kind', 'nw'), 0 })
settled = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf.code_action({
  apply = true,
  context = { only = { 'refactor.rewrite' }, diagnostics = {} },
  filter = function(action) return action.title == 'Migrate to v1alpha2' end,
})
wait('the migration', function() return vim.api.nvim_buf_get_changedtick(0) ~= settled end)
emit('migrated', buffer())

client:stop()
wait('the end', function() return vim.lsp.get_client_by_id(id) == nil end)
os.exit(0)
