#include "frazil/table/append.h"

#include "frazil/base/error.h"
#include "frazil/catalog/catalog.h"
#include "frazil/commit/append.h"
#include "frazil/manifest/data_file.h"
#include "frazil/table/table.h"
#include "frazil/write/data_writer.h"

namespace frazil {

class Append::Impl {
 public:
  Impl(Context& context, std::shared_ptr<const catalog::LoadedTable> loaded, std::shared_ptr<FileSystem> files,
       AppendOptions options)
      : context_(context),
        loaded_(std::move(loaded)),
        options_(std::move(options)),
        writer_(context, loaded_->metadata, std::move(files),
                {.buffer_bytes = options_.buffer_bytes,
                 .target_file_bytes = options_.target_file_bytes,
                 .sort = options_.sort,
                 .sync = options_.sync}) {
    if (loaded_->store == nullptr) {
      throw_error(ErrorKind::kUnsupported,
                  "{} belongs to no catalog and no table folder: nothing can be committed to it", loaded_->name);
    }
  }

  write::DataWriter& writer() { return writer_; }

  Table commit() {
    commit::AppendOptions options;
    options.branch = options_.branch;
    for (const auto& [key, value] : options_.snapshot_properties) options.summary.emplace_back(key, value);
    options.durability = options_.sync ? catalog::Durability::kFull : catalog::Durability::kProcess;
    options.stop = options_.stop;
    return {context_, commit::append(context_, *loaded_, writer_.finish(), options)};
  }

 private:
  Context& context_;
  std::shared_ptr<const catalog::LoadedTable> loaded_;
  AppendOptions options_;
  write::DataWriter writer_;
};

Append::Append(Context& context, std::shared_ptr<const catalog::LoadedTable> loaded, std::shared_ptr<FileSystem> files,
               AppendOptions options)
    : impl_(std::make_unique<Impl>(context, std::move(loaded), std::move(files), std::move(options))) {}
Append::~Append() = default;
Append::Append(Append&&) noexcept = default;
Append& Append::operator=(Append&&) noexcept = default;

void Append::write(const RecordBatch& batch) {
  impl_->writer().write(batch);
}
int64_t Append::row_count() const {
  return impl_->writer().row_count();
}
Table Append::commit() {
  return impl_->commit();
}
void Append::abort() noexcept {
  impl_->writer().abort();
}

}  // namespace frazil
