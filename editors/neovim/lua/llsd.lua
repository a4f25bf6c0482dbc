-- What the commands of plugin/llsd.lua do. Each speaks of the resource at the cursor of the current buffer.
local M = {}

local MIGRATE = 'refactor.rewrite.llsd.migrate'

local function say(message)
  vim.notify('llsd: ' .. message, vim.log.levels.WARN)
end

local function client_of(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'llsd' })[1]
  if not client then say("the language server is not running here; vim.lsp.enable('llsd') starts it") end
  return client
end

local function ask(client, buffer, method, more, done)
  local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
  client:request(method, vim.tbl_extend('force', position, more or {}), function(failed, answer)
    if failed then
      say(failed.message)
    elseif answer == nil or answer == vim.NIL then
      say('there is no resource at the cursor whose config could be shown')
    else
      done(answer)
    end
  end, buffer)
end

-- A buffer of text that nobody writes, under this name.
local function show(name, text)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?^$\\') .. '$')
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
    -- Not `yaml`, which would start language servers in it.
    vim.bo[buffer].syntax = 'yaml'
    vim.bo[buffer].bufhidden = 'hide'
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((text:gsub('\n$', '')), '\n', { plain = true }))
  vim.bo[buffer].modifiable = false
  return buffer
end

local function beside(buffer)
  if vim.fn.bufwinid(buffer) == -1 then
    vim.api.nvim_open_win(buffer, false, { split = 'right', win = 0 })
  end
end

function M.preview()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then return end
  local name = 'llsd-preview://' .. buffer
  local function refresh(then_do)
    ask(client, buffer, 'llsd/preview', nil, function(answer)
      local shown = show(name, answer.text)
      if then_do then then_do(shown) end
    end)
  end
  refresh(function(shown)
    beside(shown)
    -- The config follows the text for as long as its window is open.
    local group = vim.api.nvim_create_augroup('llsd-preview-' .. buffer, { clear = true })
    vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, {
      group = group,
      buffer = buffer,
      callback = function()
        if vim.fn.bufwinid(shown) == -1 then
          vim.api.nvim_del_augroup_by_id(group)
        else
          refresh()
        end
      end,
    })
  end)
end

function M.diff(against)
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then return end
  ask(client, buffer, 'llsd/previewDiff', { against = against or 'base' }, function(answer)
    local left = show('llsd-diff://' .. answer.left.title, answer.left.text)
    local right = show('llsd-diff://' .. answer.right.title, answer.right.text)
    vim.cmd.tabnew()
    vim.api.nvim_win_set_buf(0, left)
    vim.cmd.diffthis()
    vim.api.nvim_open_win(right, true, { split = 'right', win = 0 })
    vim.cmd.diffthis()
  end)
end

function M.migrate()
  if client_of(0) then
    vim.lsp.buf.code_action({ context = { only = { MIGRATE }, diagnostics = {} } })
  end
end

return M
