-- The plugin of editors/neovim as a user has it, one JSON line for each result:
--   nvim --headless --clean -l neovim_plugin.lua FILE PLUGIN OLDER CONFIG
-- `llsd` is found on the PATH.
local file, plugin, older = vim.fn.fnamemodify(arg[1], ':p'), arg[2], vim.fn.fnamemodify(arg[3], ':p')
local patience = 300000

local function emit(name, value)
  io.stdout:write(vim.json.encode({ [name] = value }), '\n')
  io.stdout:flush()
end

local function wait(what, condition)
  assert(vim.wait(patience, condition, 5), 'waited in vain for ' .. what)
end

local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
end

local function named(prefix)
  return vim.tbl_filter(function(buffer) return vim.startswith(vim.api.nvim_buf_get_name(buffer), prefix) end, vim.api.nvim_list_bufs())
end

local function attached()
  wait('the server', function()
    local client = vim.lsp.get_clients({ bufnr = 0, name = 'llsd' })[1]
    return client and client.initialized
  end)
end

vim.opt.runtimepath:append(plugin)
vim.cmd.runtime('plugin/llsd.lua')
vim.lsp.enable('llsd')
vim.cmd.filetype('on')
vim.cmd.edit(vim.fn.fnameescape(file))
attached()

vim.api.nvim_win_set_cursor(0, { vim.fn.search('^kind', 'nw'), 0 })
vim.cmd.LlsdPreview()
wait('the preview', function() return #named('llsd-preview://') == 1 end)
local preview = named('llsd-preview://')[1]
emit('preview', { text = text_of(preview), seen = vim.fn.bufwinid(preview) ~= -1 })

-- It follows the text.
local line = vim.fn.search('http://vllm', 'nw')
local changed = vim.fn.getline(line):gsub('http://vllm', 'http://other')
vim.api.nvim_buf_set_lines(0, line - 1, line, false, { changed })
vim.api.nvim_exec_autocmds('TextChanged', { buffer = 0 })
wait('the changed preview', function() return text_of(preview):find('http://other', 1, true) end)

vim.cmd.LlsdDiff('base')
wait('both sides', function() return #named('llsd-diff://') == 2 end)
emit('diff', vim.tbl_map(function(buffer)
  local window = vim.fn.bufwinid(buffer)
  return { text = text_of(buffer), diff = window ~= -1 and vim.wo[window].diff }
end, named('llsd-diff://')))

vim.cmd.tabfirst()
vim.cmd.edit({ vim.fn.fnameescape(older), bang = true })
attached()
vim.api.nvim_win_set_cursor(0, { vim.fn.search('^kind', 'nw'), 0 })
local before = vim.api.nvim_buf_get_changedtick(0)
-- Neovim asks which; a user takes the one that is wanted.
local offered, wanted
vim.ui.select = function(items, options, choose)
  offered = vim.tbl_map(options.format_item, items)
  for number, title in ipairs(offered) do
    if title:find(wanted, 1, true) then return choose(items[number], number) end
  end
end
local messages = {}
vim.notify = function(message) table.insert(messages, message) end

-- What a migration would make is shown in a tab; the text stays as it is until somebody says so.
local function shown(title)
  local tabs, source, was = #vim.api.nvim_list_tabpages(), vim.api.nvim_get_current_buf(), text_of(0)
  wanted, messages = title, {}
  vim.cmd.LlsdMigrate()
  wait('what a migration makes', function() return #messages > 0 end)
  local buffers = vim.tbl_map(vim.api.nvim_win_get_buf, vim.api.nvim_tabpage_list_wins(0))
  local seen = { offered = offered, message = messages[1], untouched = text_of(source) == was, tabs = #vim.api.nvim_list_tabpages() - tabs }
  for _, buffer in ipairs(buffers) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if name == 'llsd-migration://' then
      seen.told = text_of(buffer)
    elseif vim.startswith(name, 'llsd-migration://') then
      seen.new = text_of(buffer)
    end
  end
  return seen
end

local seen = shown('v1alpha2')
vim.cmd.LlsdApply()
emit('resource', vim.tbl_extend('force', seen, { after = text_of(0), changed = vim.api.nvim_buf_get_changedtick(0) ~= before }))

vim.cmd.edit({ vim.fn.fnameescape(vim.fn.fnamemodify(arg[4], ':p')), bang = true })
attached()
seen = shown('ogx 1.5.0')
-- Nobody makes a change of a text that is no more.
vim.cmd.tabfirst()
vim.cmd.buffer(vim.fn.fnameescape(vim.fn.fnamemodify(arg[4], ':p')))
vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# another line' })
messages = {}
vim.cmd.LlsdApply()
emit('stale', { message = messages[1], first = vim.fn.getline(1), tabs = #vim.api.nvim_list_tabpages() })
vim.api.nvim_buf_set_lines(0, 0, 1, false, {})
seen = shown('ogx 1.5.0')
vim.cmd.LlsdApply()
emit('config', vim.tbl_extend('force', seen, { after = text_of(0) }))
messages = {}
vim.cmd.LlsdApply()
emit('nothing', messages)
messages = {}
vim.cmd.enew()
vim.cmd.LlsdPreview()
emit('without a server', messages)
os.exit(0)
