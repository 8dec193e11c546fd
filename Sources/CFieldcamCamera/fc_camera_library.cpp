// libcamera behind the table of fc_camera.h: one source for libcamera 0.0.3 … 0.7, built once per generation.
//
// Generations are told apart at compile time where names changed; whether a control exists is asked of the camera.
#include "fc_camera_library.h"

#include <libcamera/libcamera.h>

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#define FC_LIBCAMERA (LIBCAMERA_VERSION_MAJOR * 10000 + LIBCAMERA_VERSION_MINOR * 100 + LIBCAMERA_VERSION_PATCH)

namespace {

using libcamera::Camera;
using libcamera::CameraConfiguration;
using libcamera::CameraManager;
using libcamera::ColorSpace;
using libcamera::FrameBuffer;
using libcamera::FrameBufferAllocator;
using libcamera::FrameMetadata;
using libcamera::PixelFormat;
using libcamera::Request;
using libcamera::Stream;
using libcamera::StreamConfiguration;
using libcamera::StreamRole;
using Size = libcamera::Size;

// One failure: an errno and a sentence.
struct Failure {
	int code = 0;
	std::string text;

	explicit operator bool() const { return code != 0; }
};

Failure failed(int code, std::string text) { return {code == 0 ? -EIO : code, std::move(text)}; }

int told(const Failure &failure, char *error, size_t size)
{
	if (failure && size > 0)
		snprintf(error, size, "%s", failure.text.c_str());
	return failure.code;
}

// Every entry runs its body in here: what C++ throws becomes an errno.
template<typename Body>
int guarded(char *error, size_t size, Body body) noexcept
{
	try {
		return told(body(), error, size);
	} catch (const std::bad_alloc &) {
		if (size > 0)
			snprintf(error, size, "no memory is left");
		return -ENOMEM;
	} catch (const std::exception &exception) {
		if (size > 0)
			snprintf(error, size, "libcamera failed: %s", exception.what());
		return -EIO;
	}
}

int64_t monotonic_ns()
{
	timespec now{};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// libcamera allows one manager a process. It lives while a camera is held, so that closing all and opening again is a fresh start.
struct SharedManager {
	std::mutex mutex;
	std::unique_ptr<CameraManager> manager;
	int users = 0;

	Failure join()
	{
		std::lock_guard lock(mutex);
		if (users == 0) {
			auto fresh = std::make_unique<CameraManager>();
			if (int code = fresh->start())
				return failed(code, "libcamera's camera manager doesn't start");
			manager = std::move(fresh);
		}
		users++;
		return {};
	}

	void leave()
	{
		std::lock_guard lock(mutex);
		if (--users == 0) {
			manager->stop();
			manager.reset();
		}
	}
};

SharedManager &shared_manager()
{
	// Never destroyed: a camera may still be held when the process exits.
	static SharedManager *shared = new SharedManager;
	return *shared;
}

std::string model_of(const Camera &camera)
{
	auto model = camera.properties().get(libcamera::properties::Model);
	return model ? std::string(*model) : camera.id();
}

std::string location_of(const Camera &camera)
{
	auto location = camera.properties().get(libcamera::properties::Location);
	if (!location)
		return "";
	switch (*location) {
	case libcamera::properties::CameraLocationFront: return "front";
	case libcamera::properties::CameraLocationBack: return "back";
	case libcamera::properties::CameraLocationExternal: return "external";
	}
	return "";
}

// Whether camera devices are there that this process may not open: then the empty list has a mend.
bool devices_are_denied()
{
	for (int number = 0; number < 16; number++) {
		char path[32];
		snprintf(path, sizeof path, "/dev/media%d", number);
		int descriptor = open(path, O_RDWR | O_CLOEXEC);
		if (descriptor >= 0)
			close(descriptor);
		else if (errno == EACCES || errno == EPERM)
			return true;
	}
	return false;
}

Failure find_camera(const std::string &match, std::shared_ptr<Camera> &found)
{
	auto colon = match.find(':');
	std::string kind = match.substr(0, colon);
	std::string value = colon == std::string::npos ? "" : match.substr(colon + 1);
	bool by_index = kind == "index";
	bool is_known = by_index || kind == "id" || kind == "model" || kind == "location";
	bool is_number = !value.empty() && value.size() < 4 && value.find_first_not_of("0123456789") == std::string::npos;
	if (!is_known || value.empty() || (by_index && !is_number))
		return failed(-EINVAL, "the match '" + match + "' is none of location:back|front|external, id:…, model:…, index:0");

	std::vector<std::shared_ptr<Camera>> cameras = shared_manager().manager->cameras();
	std::string names;
	for (size_t index = 0; index < cameras.size(); index++) {
		const Camera &camera = *cameras[index];
		if ((by_index && std::stoul(value) == index) || (kind == "id" && camera.id() == value) ||
		    (kind == "model" && model_of(camera) == value) || (kind == "location" && location_of(camera) == value)) {
			found = cameras[index];
			return {};
		}
		std::string location = location_of(camera);
		names += (names.empty() ? "" : ", ") + ("index:" + std::to_string(index)) + " model:" + model_of(camera) +
			 (location.empty() ? "" : " location:" + location);
	}
	if (names.empty() && devices_are_denied())
		return failed(-EACCES, "the camera's devices (/dev/media*) may not be opened; add the user to the group 'video'");
	if (names.empty())
		return failed(-ENODEV, "libcamera finds no camera; check the cable and the overlay in config.txt");
	return failed(-ENODEV, "no camera matches '" + match + "'; there is " + names);
}

// Formats we take, best first: what JPEG and H.264 encoders read without a conversion, then the others.
struct Format {
	PixelFormat pixel;
	uint32_t name;
	uint32_t planes;
};

const std::array<Format, 4> &formats()
{
	static const std::array<Format, 4> known{{
		{libcamera::formats::YUV420, FC_CAMERA_YUV420, 3},
		{libcamera::formats::NV12, FC_CAMERA_NV12, 2},
		{libcamera::formats::BGR888, FC_CAMERA_BGR888, 1},
		{libcamera::formats::RGB888, FC_CAMERA_RGB888, 1},
	}};
	return known;
}

const Format *format_of(PixelFormat pixel)
{
	for (const Format &format : formats())
		if (format.pixel == pixel)
			return &format;
	return nullptr;
}

// What the pipeline made of the colour space we asked for; without an answer, what pictures of this size commonly are.
uint32_t colour_of(const StreamConfiguration &stream, const Format &format)
{
	if (format.planes == 1)
		return FC_CAMERA_SRGB;
	if (!stream.colorSpace)
		return stream.size.height >= 720 ? FC_CAMERA_REC709 : FC_CAMERA_SMPTE170M;
	if (stream.colorSpace->range == ColorSpace::Range::Full)
		return FC_CAMERA_SYCC;
	return stream.colorSpace->ycbcrEncoding == ColorSpace::YcbcrEncoding::Rec709 ? FC_CAMERA_REC709 : FC_CAMERA_SMPTE170M;
}

// One buffer's bytes in our address space. Several dmabufs are laid end to end, so that one base address serves.
struct Mapping {
	uint8_t *base = nullptr;
	size_t bytes = 0;
};

size_t whole_pages(size_t bytes)
{
	size_t page = size_t(sysconf(_SC_PAGESIZE));
	return (bytes + page - 1) / page * page;
}

// Maps a frame buffer; `offsets` are its planes' places from the base address.
Failure map_buffer(const FrameBuffer &buffer, Mapping &mapping, std::vector<uint32_t> &offsets, uint32_t &bytes)
{
	struct Segment {
		int descriptor;
		struct stat identity;
		size_t length;
		size_t place;
	};
	std::vector<Segment> segments;
	std::vector<size_t> owner;
	for (const auto &plane : buffer.planes()) {
		if (plane.offset == FrameBuffer::Plane::kInvalidOffset)
			return failed(-EIO, "libcamera doesn't tell where a plane of its buffer lies");
		struct stat identity {};
		if (fstat(plane.fd.get(), &identity) != 0)
			return failed(-errno, "a buffer of the camera can't be looked at");
		// The planes of one dmabuf may come with descriptors of their own.
		size_t index = 0;
		while (index < segments.size() && !(segments[index].identity.st_ino == identity.st_ino &&
						    segments[index].identity.st_dev == identity.st_dev))
			index++;
		if (index == segments.size())
			segments.push_back({plane.fd.get(), identity, 0, 0});
		segments[index].length = std::max(segments[index].length, size_t(plane.offset) + plane.length);
		owner.push_back(index);
	}
	size_t total = 0;
	for (Segment &segment : segments) {
		segment.place = total;
		total += whole_pages(segment.length);
	}
	if (total == 0)
		return failed(-EIO, "libcamera gives a buffer without memory");

	void *base = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return failed(-errno, "no address space is left for the camera's buffers");
	mapping = {static_cast<uint8_t *>(base), total};
	for (const Segment &segment : segments) {
		void *part = mmap(mapping.base + segment.place, segment.length, PROT_READ, MAP_SHARED | MAP_FIXED, segment.descriptor, 0);
		if (part == MAP_FAILED)
			return failed(-errno, "a buffer of the camera can't be mapped");
	}
	bytes = 0;
	offsets.clear();
	for (size_t index = 0; index < owner.size(); index++) {
		const auto &plane = buffer.planes()[index];
		size_t place = segments[owner[index]].place + plane.offset;
		offsets.push_back(uint32_t(place));
		bytes = std::max(bytes, uint32_t(place + plane.length));
	}
	return {};
}

} // namespace

struct fc_camera_memory {
	// Buffers of the first stream, then of the second.
	std::vector<Mapping> mappings;
	// Our own dmabufs, where caches must be told of reading; empty where libcamera allocated.
	std::vector<int> descriptors;
	uint32_t buffers = 0;

	~fc_camera_memory()
	{
		for (const Mapping &mapping : mappings)
			if (mapping.base)
				munmap(mapping.base, mapping.bytes);
		for (int descriptor : descriptors)
			close(descriptor);
	}
};

struct fc_camera {
	std::shared_ptr<Camera> camera;
	int event = -1;
	std::string model;

	std::unique_ptr<CameraConfiguration> configuration;
	// Whose buffers: libcamera's, or, where a heap gave the memory, our own.
	std::unique_ptr<FrameBufferAllocator> allocator;
	std::map<const Stream *, std::vector<std::unique_ptr<FrameBuffer>>> own;
	// One a buffer; each keeps its buffers for life.
	std::vector<std::unique_ptr<Request>> requests;
	// Queued at least once: must be made new before it is queued again. Thread: whoever queues.
	std::vector<bool> used;
	// What may be set, and in which rectangle of sensor pixels parts of the field are counted.
	uint32_t advertised = 0;
	libcamera::Rectangle field;

	std::atomic<bool> is_running{false};

	const std::vector<std::unique_ptr<FrameBuffer>> &buffers(Stream *stream) const
	{
		auto found = own.find(stream);
		return found == own.end() ? allocator->buffers(stream) : found->second;
	}

	// Written by libcamera's thread alone, read by the director alone. Each request is out at most once, so that the ring
	// can't fill; cancelled ones and one disconnection included.
	static constexpr uint32_t capacity = 2 * FC_CAMERA_MAXIMUM_BUFFERS;
	std::array<fc_camera_record, capacity> ring;
	std::atomic<uint32_t> written{0};
	std::atomic<uint32_t> taken{0};

	void put(const fc_camera_record &record)
	{
		uint32_t place = written.load(std::memory_order_relaxed);
		if (place - taken.load(std::memory_order_acquire) == capacity)
			return;
		ring[place % capacity] = record;
		written.store(place + 1, std::memory_order_release);
		uint64_t one = 1;
		ssize_t ignored = write(event, &one, sizeof one);
		(void)ignored;
	}

	// libcamera's thread.
	void completed(Request *request)
	{
		if (!is_running.load(std::memory_order_acquire))
			return;
		put(record_of(*request, field));
	}

	// libcamera's thread.
	void disconnected()
	{
		if (!is_running.load(std::memory_order_acquire))
			return;
		fc_camera_record record{};
		record.kind = FC_CAMERA_DISCONNECTED;
		record.arrived_ns = monotonic_ns();
		put(record);
	}

	static fc_camera_record record_of(Request &request, const libcamera::Rectangle &field)
	{
		constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
		fc_camera_record record{};
		record.buffer = uint32_t(request.cookie());
		record.arrived_ns = monotonic_ns();
		record.sensor_ns = record.exposure_ns = -1;
		record.gain = record.lux = record.lens_position = unknown;
		record.focus = record.exposure_settled = -1;
		if (request.status() != Request::RequestComplete) {
			record.kind = FC_CAMERA_CANCELLED;
			return record;
		}
		record.kind = FC_CAMERA_FRAME;
		uint64_t buffer_ns = 0;
		for (const auto &[stream, buffer] : request.buffers()) {
			const FrameMetadata &metadata = buffer->metadata();
			// From 0.5.2 on start-up frames come with a status of their own instead of being left out.
			if (metadata.status != FrameMetadata::FrameSuccess)
				record.kind = FC_CAMERA_FRAME_FAILED;
			record.sequence = metadata.sequence;
			buffer_ns = metadata.timestamp;
		}

		const libcamera::ControlList &metadata = request.metadata();
		auto timestamp = metadata.get(libcamera::controls::SensorTimestamp);
		record.sensor_ns = timestamp ? *timestamp : int64_t(buffer_ns);
		if (auto exposure = metadata.get(libcamera::controls::ExposureTime))
			record.exposure_ns = int64_t(*exposure) * 1000;
		if (auto gain = metadata.get(libcamera::controls::AnalogueGain)) {
			auto digital = metadata.get(libcamera::controls::DigitalGain);
			record.gain = double(*gain) * double(digital ? *digital : 1.0f);
		}
		if (auto lux = metadata.get(libcamera::controls::Lux))
			record.lux = double(*lux);
		if (auto position = metadata.get(libcamera::controls::LensPosition))
			record.lens_position = double(*position);
		if (auto focus = metadata.get(libcamera::controls::AfState))
			record.focus = *focus;
		if (auto crop = metadata.get(libcamera::controls::ScalerCrop); crop && !field.isNull()) {
			record.crop = {double(crop->x - field.x) / field.width, double(crop->y - field.y) / field.height,
				       double(crop->width) / field.width, double(crop->height) / field.height};
		}
#if FC_LIBCAMERA >= 500
		if (auto state = metadata.get(libcamera::controls::AeState))
			record.exposure_settled = *state == libcamera::controls::AeStateConverged;
#else
		if (auto locked = metadata.get(libcamera::controls::AeLocked))
			record.exposure_settled = *locked;
#endif
		return record;
	}
};

namespace {

void forget_configuration(fc_camera &camera)
{
	camera.requests.clear();
	camera.used.clear();
	camera.allocator.reset();
	camera.own.clear();
	camera.configuration.reset();
}

PixelFormat chosen_format(const StreamConfiguration &stream)
{
	std::vector<PixelFormat> offered = stream.formats().pixelformats();
	for (const Format &format : formats())
		if (std::find(offered.begin(), offered.end(), format.pixel) != offered.end())
			return format.pixel;
	// Without a list, or with a list of nothing we know, the pipeline's own proposal is judged after validation.
	return stream.pixelFormat;
}

void wish_stream(StreamConfiguration &stream, Size size, bool is_still, unsigned buffers)
{
	stream.pixelFormat = chosen_format(stream);
	stream.size = size;
	stream.stride = 0;
	stream.bufferCount = buffers;
	if (format_of(stream.pixelFormat) && format_of(stream.pixelFormat)->planes > 1)
		stream.colorSpace = is_still              ? ColorSpace::Sycc
				    : size.height >= 720 ? ColorSpace::Rec709
							 : ColorSpace::Smpte170m;
}

// A configuration that the pipeline accepts, with as many streams as roles, or nothing.
std::unique_ptr<CameraConfiguration> accepted(
	Camera &camera, const std::vector<StreamRole> &roles, const std::vector<Size> &sizes, unsigned buffers)
{
	std::unique_ptr<CameraConfiguration> configuration = camera.generateConfiguration(roles);
	if (!configuration || configuration->size() != roles.size())
		return nullptr;
	for (unsigned index = 0; index < roles.size(); index++)
		wish_stream(configuration->at(index), sizes[index], roles[index] == StreamRole::StillCapture, buffers);
	if (configuration->validate() == CameraConfiguration::Invalid || configuration->size() != roles.size())
		return nullptr;
	for (const StreamConfiguration &stream : *configuration)
		if (!format_of(stream.pixelFormat))
			return nullptr;
	return configuration;
}

// The streams for a wish. `first_is_still` tells which of two is which.
Failure choose_streams(
	Camera &camera, const fc_camera_wish &wish, unsigned buffers, std::unique_ptr<CameraConfiguration> &configuration,
	bool &first_is_still)
{
	Size video(wish.video_width, wish.video_height);
	Size still(wish.still_width, wish.still_height);
	if (still.isNull()) {
		std::vector<StreamRole> role{StreamRole::StillCapture};
		auto proposal = camera.generateConfiguration(role);
		still = proposal && !proposal->empty() ? proposal->at(0).size : video;
	}
	first_is_still = true;
	if (wish.only_still) {
		for (StreamRole role : {StreamRole::StillCapture, StreamRole::VideoRecording, StreamRole::Viewfinder}) {
			configuration = accepted(camera, {role}, {still}, buffers);
			if (configuration)
				return {};
		}
		return failed(-ENOTSUP, "the camera '" + camera.id() + "' has no still stream of a format that we know");
	}
	if (still != video) {
		// The largest stream must be the first one.
		first_is_still = uint64_t(still.width) * still.height >= uint64_t(video.width) * video.height;
		std::vector<StreamRole> roles{StreamRole::StillCapture, StreamRole::VideoRecording};
		std::vector<Size> sizes{still, video};
		if (!first_is_still) {
			std::swap(roles[0], roles[1]);
			std::swap(sizes[0], sizes[1]);
		}
		configuration = accepted(camera, roles, sizes, buffers);
		// Sizes may have been adjusted to the same one: then the second stream is only work.
		if (configuration && configuration->at(0).size != configuration->at(1).size)
			return {};
	}
	first_is_still = true;
	for (StreamRole role : {StreamRole::VideoRecording, StreamRole::StillCapture, StreamRole::Viewfinder}) {
		configuration = accepted(camera, {role}, {video}, buffers);
		if (configuration)
			return {};
	}
	return failed(
		-ENOTSUP, "the camera '" + camera.id() + "' has no stream of a format that we know (YUV420, NV12, BGR888, RGB888)");
}

// EXIF numbers, as libcamera's Orientation: degrees clockwise to upright, after mirroring.
void upright_from(int orientation, fc_camera_mode &mode)
{
	static const uint32_t degrees[9] = {0, 0, 0, 180, 180, 270, 90, 90, 270};
	static const uint32_t mirrors[9] = {0, 0, 1, 0, 1, 1, 0, 1, 0};
	int index = orientation >= 1 && orientation <= 8 ? orientation : 0;
	mode.rotation = degrees[index];
	mode.mirror = mirrors[index];
}

void read_rotation(const Camera &camera, const CameraConfiguration &configuration, fc_camera_mode &mode)
{
#if FC_LIBCAMERA >= 200
	(void)camera;
	upright_from(int(configuration.orientation), mode);
#else
	// Half turns are undone by the sensor itself; quarter turns are left to us.
	(void)configuration;
	auto rotation = camera.properties().get(libcamera::properties::Rotation);
	int turn = rotation ? ((*rotation % 360) + 360) % 360 : 0;
	upright_from(turn == 90 ? 8 : turn == 270 ? 6 : 1, mode);
#endif
}

// A limit of a control, as a number; some controls have none, or one of another type than their value.
std::optional<double> number(const libcamera::ControlValue &value)
{
	if (value.isArray())
		return std::nullopt;
	switch (value.type()) {
	case libcamera::ControlTypeInteger32: return double(value.get<int32_t>());
	case libcamera::ControlTypeInteger64: return double(value.get<int64_t>());
	case libcamera::ControlTypeFloat: return double(value.get<float>());
	default: return std::nullopt;
	}
}

fc_camera_range range_of(const libcamera::ControlInfoMap &controls, const libcamera::ControlId &id, double factor)
{
	auto found = controls.find(&id);
	if (found == controls.end())
		return {1, 0};
	auto from = number(found->second.min()), to = number(found->second.max());
	return from && to && *from <= *to ? fc_camera_range{*from * factor, *to * factor} : fc_camera_range{1, 0};
}

// Whether a choice is among those of an advertised control.
bool offers(const libcamera::ControlInfoMap &controls, const libcamera::ControlId &id, int32_t choice)
{
	auto found = controls.find(&id);
	if (found == controls.end())
		return false;
	for (const libcamera::ControlValue &value : found->second.values())
		if (auto known = number(value); known && int32_t(*known) == choice)
			return true;
	if (!found->second.values().empty())
		return false;
	auto from = number(found->second.min()), to = number(found->second.max());
	return !from || !to || (choice >= *from && choice <= *to);
}

// The whole of what the sensor sees in this mode, in sensor pixels; null where it isn't told.
libcamera::Rectangle field_of(const Camera &camera)
{
	const libcamera::ControlInfoMap &controls = camera.controls();
	auto crop = controls.find(&libcamera::controls::ScalerCrop);
	if (crop == controls.end())
		return {};
	const libcamera::ControlValue &largest = crop->second.max();
	if (largest.type() == libcamera::ControlTypeRectangle && !largest.isArray()) {
		auto field = largest.get<libcamera::Rectangle>();
		if (!field.isNull())
			return field;
	}
	// Being dropped from libcamera, and for those who don't tell a largest crop.
	auto maximum = camera.properties().get(libcamera::properties::ScalerCropMaximum);
	return maximum ? *maximum : libcamera::Rectangle{};
}

uint32_t advertised_by(const libcamera::ControlInfoMap &controls, const libcamera::Rectangle &field)
{
	namespace names = libcamera::controls;
	auto has = [&](const libcamera::ControlId &id) { return controls.count(&id) > 0; };
	uint32_t bits = 0;
	auto add = [&](bool is_there, uint32_t bit) { bits |= is_there ? bit : 0; };
	add(has(names::ScalerCrop) && !field.isNull(), FC_CAMERA_CROP);
	add(has(names::AfMode), FC_CAMERA_FOCUS_MODE);
	add(has(names::AfWindows) && offers(controls, names::AfMetering, names::AfMeteringWindows) && !field.isNull(),
	    FC_CAMERA_FOCUS_WINDOW);
	add(has(names::AfTrigger), FC_CAMERA_FOCUS_SCAN);
	add(has(names::AfPause), FC_CAMERA_FOCUS_PAUSE);
	add(offers(controls, names::AfSpeed, names::AfSpeedFast), FC_CAMERA_FOCUS_SPEED);
	add(has(names::LensPosition), FC_CAMERA_LENS_POSITION);
	add(has(names::ExposureValue), FC_CAMERA_EXPOSURE_VALUE);
	add(has(names::AeMeteringMode), FC_CAMERA_METERING);
	add(has(names::ExposureTime), FC_CAMERA_EXPOSURE_TIME);
	add(has(names::AnalogueGain), FC_CAMERA_GAIN);
	add(has(names::FrameDurationLimits), FC_CAMERA_FRAME_DURATION);
	add(offers(controls, names::AeExposureMode, names::ExposureLong), FC_CAMERA_LONG_EXPOSURE);
	add(offers(controls, names::draft::NoiseReductionMode, names::draft::NoiseReductionModeHighQuality), FC_CAMERA_DENOISE);
#if FC_LIBCAMERA >= 200
	add(offers(controls, names::HdrMode, names::HdrModeNight), FC_CAMERA_NIGHT);
#endif
	return bits;
}

// Raspberry Pi's pipelines report lux and the state of exposure with every frame. No control says so; they are known by this
// pair, which no other pipeline has together.
bool is_raspberry_pi(const libcamera::ControlInfoMap &controls)
{
	return controls.count(&libcamera::controls::draft::NoiseReductionMode) > 0 &&
	       controls.count(&libcamera::controls::AeConstraintMode) > 0;
}

void read_controls(const fc_camera_wish &wish, fc_camera &camera, fc_camera_mode &mode)
{
	const libcamera::ControlInfoMap &controls = camera.camera->controls();
	camera.field = field_of(*camera.camera);
	camera.advertised = advertised_by(controls, camera.field);
	mode.controls = camera.advertised;
	mode.field_width = camera.field.width;
	mode.field_height = camera.field.height;
	mode.lens_position = range_of(controls, libcamera::controls::LensPosition, 1);
	mode.exposure = range_of(controls, libcamera::controls::ExposureTime, 1000);
	mode.gain = range_of(controls, libcamera::controls::AnalogueGain, 1);
	mode.frame = range_of(controls, libcamera::controls::FrameDurationLimits, 1000);
	mode.reports_lux = mode.reports_exposure_state = is_raspberry_pi(controls) ? 1 : 0;

	mode.has_focus = camera.advertised & FC_CAMERA_FOCUS_MODE ? 1 : 0;
	mode.has_framerate = camera.advertised & FC_CAMERA_FRAME_DURATION ? 1 : 0;
	mode.frame_interval_ns = int64_t(std::llround(1e9 / wish.framerate));
	if (mode.frame.from > 0 && mode.frame.from <= mode.frame.to)
		mode.frame_interval_ns = std::max(mode.frame_interval_ns, int64_t(mode.frame.from));
	if (mode.frame.to > 0 && mode.frame.from <= mode.frame.to)
		mode.frame_interval_ns = std::min(mode.frame_interval_ns, int64_t(mode.frame.to));
}

libcamera::Rectangle pixels(const fc_camera_part &part, const libcamera::Rectangle &field)
{
	int left = int(std::lround(part.x * field.width)), top = int(std::lround(part.y * field.height));
	int right = int(std::lround((part.x + part.width) * field.width));
	int bottom = int(std::lround((part.y + part.height) * field.height));
	left = std::clamp(left, 0, int(field.width) - 1);
	top = std::clamp(top, 0, int(field.height) - 1);
	right = std::clamp(right, left + 1, int(field.width));
	bottom = std::clamp(bottom, top + 1, int(field.height));
	return {field.x + left, field.y + top, unsigned(right - left), unsigned(bottom - top)};
}

// Puts controls into a request's list. The list's memory is libcamera's own.
void fill(libcamera::ControlList &list, const fc_camera_controls &wish, const fc_camera &camera)
{
	namespace names = libcamera::controls;
	const libcamera::ControlInfoMap &offered = camera.camera->controls();
	auto sets = [&](uint32_t bit) { return (wish.set & camera.advertised & bit) != 0; };
	if (sets(FC_CAMERA_CROP))
		list.set(names::ScalerCrop, pixels(wish.crop, camera.field));
	if (sets(FC_CAMERA_FOCUS_WINDOW)) {
		bool is_chosen = wish.focus_window.width > 0;
		list.set(names::AfMetering, int32_t(is_chosen ? names::AfMeteringWindows : names::AfMeteringAuto));
		if (is_chosen) {
			const std::array<libcamera::Rectangle, 1> windows{pixels(wish.focus_window, camera.field)};
			list.set(names::AfWindows, libcamera::Span<const libcamera::Rectangle>(windows.data(), windows.size()));
		}
	}
	if (sets(FC_CAMERA_FOCUS_SPEED))
		list.set(names::AfSpeed, int32_t(wish.focus_slow ? names::AfSpeedNormal : names::AfSpeedFast));
	if (sets(FC_CAMERA_FOCUS_MODE)) {
		int32_t mode = wish.focus_mode == FC_CAMERA_FOCUS_MANUAL     ? names::AfModeManual
			       : wish.focus_mode == FC_CAMERA_FOCUS_ONE_SHOT ? names::AfModeAuto
									     : names::AfModeContinuous;
		if (offers(offered, names::AfMode, mode))
			list.set(names::AfMode, mode);
	}
	if (sets(FC_CAMERA_FOCUS_SCAN))
		list.set(names::AfTrigger, int32_t(names::AfTriggerStart));
	if (sets(FC_CAMERA_FOCUS_PAUSE))
		list.set(names::AfPause, int32_t(wish.focus_pause ? names::AfPauseImmediate : names::AfPauseResume));
	if (sets(FC_CAMERA_LENS_POSITION))
		list.set(names::LensPosition, float(wish.lens_position));
	if (sets(FC_CAMERA_EXPOSURE_VALUE))
		list.set(names::ExposureValue, float(wish.exposure_value));
	if (sets(FC_CAMERA_METERING)) {
		int32_t metering = wish.metering == FC_CAMERA_SPOT     ? names::MeteringSpot
				   : wish.metering == FC_CAMERA_MATRIX ? names::MeteringMatrix
								       : names::MeteringCentreWeighted;
		if (offers(offered, names::AeMeteringMode, metering))
			list.set(names::AeMeteringMode, metering);
	}
	if (sets(FC_CAMERA_EXPOSURE_TIME)) {
		bool is_manual = wish.exposure_ns > 0;
		int32_t microseconds = is_manual ? int32_t(std::clamp<int64_t>(wish.exposure_ns / 1000, 1, INT32_MAX)) : 0;
#if FC_LIBCAMERA >= 500
		// Since 0.5 a value is ignored while its mode is automatic, and 0 no longer means automatic.
		if (offered.count(&names::ExposureTimeMode))
			list.set(names::ExposureTimeMode,
				 int32_t(is_manual ? names::ExposureTimeModeManual : names::ExposureTimeModeAuto));
		if (is_manual)
			list.set(names::ExposureTime, microseconds);
#else
		list.set(names::ExposureTime, microseconds);
#endif
	}
	if (sets(FC_CAMERA_GAIN)) {
		bool is_manual = wish.gain > 0;
#if FC_LIBCAMERA >= 500
		if (offered.count(&names::AnalogueGainMode))
			list.set(names::AnalogueGainMode,
				 int32_t(is_manual ? names::AnalogueGainModeManual : names::AnalogueGainModeAuto));
		if (is_manual)
			list.set(names::AnalogueGain, float(wish.gain));
#else
		list.set(names::AnalogueGain, is_manual ? float(wish.gain) : 0.0f);
#endif
	}
	if (sets(FC_CAMERA_FRAME_DURATION)) {
		const std::array<int64_t, 2> limits{wish.shortest_frame_ns / 1000, wish.longest_frame_ns / 1000};
		list.set(names::FrameDurationLimits, libcamera::Span<const int64_t, 2>(limits));
	}
	if (sets(FC_CAMERA_LONG_EXPOSURE))
		list.set(names::AeExposureMode, int32_t(wish.long_exposure ? names::ExposureLong : names::ExposureNormal));
	if (sets(FC_CAMERA_DENOISE)) {
		int32_t mode = wish.denoises_most ? names::draft::NoiseReductionModeHighQuality : names::draft::NoiseReductionModeFast;
		if (offers(offered, names::draft::NoiseReductionMode, mode))
			list.set(names::draft::NoiseReductionMode, mode);
	}
#if FC_LIBCAMERA >= 200
	if (sets(FC_CAMERA_NIGHT)) {
		int32_t mode = wish.night ? names::HdrModeNight : names::HdrModeOff;
		if (offers(offered, names::HdrMode, mode))
			list.set(names::HdrMode, mode);
	}
#endif
}

Failure map_stream(
	const std::vector<std::unique_ptr<FrameBuffer>> &buffers, unsigned count, const StreamConfiguration &stream,
	fc_camera_memory &memory, fc_camera_stream &result)
{
	const Format &format = *format_of(stream.pixelFormat);
	result = {};
	result.width = stream.size.width;
	result.height = stream.size.height;
	result.format = format.name;
	result.colour = colour_of(stream, format);
	result.planes = format.planes;
	std::vector<uint32_t> first;
	for (unsigned index = 0; index < count; index++) {
		std::vector<uint32_t> offsets;
		uint32_t bytes = 0;
		memory.mappings.emplace_back();
		if (Failure failure = map_buffer(*buffers[index], memory.mappings.back(), offsets, bytes))
			return failure;
		if (index == 0) {
			first = offsets;
			result.bytes = bytes;
		} else if (offsets != first || bytes != result.bytes) {
			return failed(-EIO, "the camera's buffers differ in layout");
		}
	}

	uint32_t rows[3] = {stream.size.height, (stream.size.height + 1) / 2, (stream.size.height + 1) / 2};
	for (uint32_t plane = 0; plane < format.planes; plane++) {
		bool is_halved = format.name == FC_CAMERA_YUV420 && plane > 0;
		result.stride[plane] = is_halved ? stream.stride / 2 : stream.stride;
		// Where libcamera tells of one plane only, the others follow it row by row.
		result.offset[plane] = first.size() == format.planes ? first[plane]
				       : plane == 0                  ? first[0]
								     : result.offset[plane - 1] + result.stride[plane - 1] * rows[plane - 1];
		uint64_t end = uint64_t(result.offset[plane]) + uint64_t(result.stride[plane]) * rows[plane];
		if (result.stride[plane] == 0 || end > result.bytes)
			return failed(-EIO, "the camera's buffers are smaller than its stream " + stream.toString());
	}
	return {};
}

// A heap's memory is cached, which makes reading by the processor several times faster than what drivers export; and it is
// one piece whatever the number of planes.
Failure allocate_from(const char *heap, fc_camera &camera, fc_camera_mode &mode, fc_camera_memory &memory)
{
	int device = open(heap, O_RDWR | O_CLOEXEC);
	if (device < 0)
		return failed(-errno, std::string("the heap ") + heap + " can't be opened");
	Failure failure;
	mode.buffers = FC_CAMERA_MAXIMUM_BUFFERS;
	for (const StreamConfiguration &stream : *camera.configuration) {
		const Format &format = *format_of(stream.pixelFormat);
		std::vector<std::unique_ptr<FrameBuffer>> &frames = camera.own[stream.stream()];
		unsigned count = std::min(stream.bufferCount, unsigned(FC_CAMERA_MAXIMUM_BUFFERS));
		mode.buffers = std::min(mode.buffers, uint32_t(count));
		for (unsigned index = 0; index < count && !failure; index++) {
			dma_heap_allocation_data piece{};
			piece.len = stream.frameSize;
			piece.fd_flags = O_RDWR | O_CLOEXEC;
			if (ioctl(device, DMA_HEAP_IOCTL_ALLOC, &piece) != 0) {
				failure = failed(-errno, std::string("the heap ") + heap + " gives no memory");
				break;
			}
			const int descriptor = int(piece.fd);
			memory.descriptors.push_back(descriptor);
			// A copy: ours serves the caches for as long as the memory is mapped.
			libcamera::SharedFD shared(descriptor);
			std::vector<FrameBuffer::Plane> planes(format.planes);
			unsigned place = 0;
			for (uint32_t plane = 0; plane < format.planes; plane++) {
				bool is_last = plane + 1 == format.planes;
				unsigned rows = plane == 0 ? stream.size.height : (stream.size.height + 1) / 2;
				unsigned stride = format.name == FC_CAMERA_YUV420 && plane > 0 ? stream.stride / 2 : stream.stride;
				planes[plane].fd = shared;
				planes[plane].offset = place;
				planes[plane].length = is_last ? stream.frameSize - place : stride * rows;
				place += planes[plane].length;
			}
			frames.push_back(std::make_unique<FrameBuffer>(planes));
		}
	}
	close(device);
	return failure;
}

Failure allocate(const fc_camera_wish &wish, fc_camera &camera, fc_camera_mode &mode, fc_camera_memory &memory)
{
	if (wish.heap) {
		if (!allocate_from(wish.heap, camera, mode, memory)) {
			mode.uses_heap = 1;
			return {};
		}
		camera.own.clear();
		for (int descriptor : memory.descriptors)
			close(descriptor);
		memory.descriptors.clear();
	}
	camera.allocator = std::make_unique<FrameBufferAllocator>(camera.camera);
	mode.buffers = FC_CAMERA_MAXIMUM_BUFFERS;
	for (const StreamConfiguration &stream : *camera.configuration) {
		int count = camera.allocator->allocate(stream.stream());
		if (count <= 0)
			return failed(count == 0 ? -ENOMEM : count, "the camera's buffers can't be allocated: " + stream.toString());
		mode.buffers = std::min(mode.buffers, uint32_t(count));
	}
	return {};
}

Failure make_requests(fc_camera &camera, const fc_camera_mode &mode)
{
	for (uint32_t index = 0; index < mode.buffers; index++) {
		std::unique_ptr<Request> request = camera.camera->createRequest(index);
		if (!request)
			return failed(-ENOMEM, "libcamera makes no request");
		for (const StreamConfiguration &stream : *camera.configuration) {
			const auto &buffers = camera.buffers(stream.stream());
			if (int code = request->addBuffer(stream.stream(), buffers[index].get()))
				return failed(code, "libcamera takes no buffer into a request");
		}
		camera.requests.push_back(std::move(request));
	}
	camera.used.assign(mode.buffers, false);
	return {};
}

Failure configure_with(
	fc_camera &camera, const fc_camera_wish &wish, unsigned buffers, fc_camera_mode &mode,
	std::unique_ptr<fc_camera_memory> &memory)
{
	forget_configuration(camera);
	mode = {};
	bool first_is_still = true;
	if (Failure failure = choose_streams(*camera.camera, wish, buffers, camera.configuration, first_is_still))
		return failure;
	if (int code = camera.camera->configure(camera.configuration.get()))
		return failed(code, "the camera '" + camera.camera->id() + "' can't be configured");
	memory = std::make_unique<fc_camera_memory>();
	if (Failure failure = allocate(wish, camera, mode, *memory))
		return failure;

	CameraConfiguration &configuration = *camera.configuration;
	mode.streams = uint32_t(configuration.size());
	memory->buffers = mode.buffers;
	for (uint32_t role = 0; role < mode.streams; role++) {
		const StreamConfiguration &stream = configuration.at(mode.streams == 2 && !first_is_still ? 1 - role : role);
		const auto &frames = camera.buffers(stream.stream());
		if (Failure failure = map_stream(frames, mode.buffers, stream, *memory, mode.stream[role]))
			return failure;
	}
	if (Failure failure = make_requests(camera, mode))
		return failure;
	read_rotation(*camera.camera, configuration, mode);
	read_controls(wish, camera, mode);
	return {};
}

int list(fc_camera_listing *listings, size_t capacity, char *error, size_t error_size) noexcept
{
	int count = 0;
	int code = guarded(error, error_size, [&]() -> Failure {
		if (Failure failure = shared_manager().join())
			return failure;
		{
			std::vector<std::shared_ptr<Camera>> cameras = shared_manager().manager->cameras();
			for (const auto &camera : cameras) {
				if (size_t(count) < capacity) {
					fc_camera_listing &listing = listings[count];
					snprintf(listing.id, sizeof listing.id, "%s", camera->id().c_str());
					snprintf(listing.model, sizeof listing.model, "%s", model_of(*camera).c_str());
					snprintf(listing.location, sizeof listing.location, "%s", location_of(*camera).c_str());
				}
				count++;
			}
		}
		shared_manager().leave();
		if (count == 0 && devices_are_denied())
			return failed(-EACCES, "the camera's devices (/dev/media*) may not be opened; add the user to the group 'video'");
		return {};
	});
	return code ? code : count;
}

int open_camera(const char *match, int event, fc_camera **result, char *error, size_t error_size) noexcept
{
	*result = nullptr;
	return guarded(error, error_size, [&]() -> Failure {
		if (Failure failure = shared_manager().join())
			return failure;
		auto camera = std::make_unique<fc_camera>();
		Failure failure = find_camera(match, camera->camera);
		if (!failure) {
			if (int code = camera->camera->acquire())
				failure = failed(code, code == -EBUSY ? "another program holds the camera '" + camera->camera->id() + "'; end it, or say 'release' there"
								      : "the camera '" + camera->camera->id() + "' can't be acquired");
		}
		if (failure) {
			camera->camera.reset();
			shared_manager().leave();
			return failure;
		}
		camera->event = event;
		camera->model = model_of(*camera->camera);
		camera->camera->requestCompleted.connect(camera.get(), &fc_camera::completed);
		camera->camera->disconnected.connect(camera.get(), &fc_camera::disconnected);
		*result = camera.release();
		return {};
	});
}

int configure(
	fc_camera *camera, const fc_camera_wish *wish, fc_camera_mode *mode, fc_camera_memory **memory, char *error,
	size_t error_size) noexcept
{
	*memory = nullptr;
	return guarded(error, error_size, [&]() -> Failure {
		if (camera->is_running.load(std::memory_order_relaxed))
			return failed(-EBUSY, "a running camera can't be configured; stop it first");
		if (!(wish->framerate > 0) || wish->buffers < 1 || wish->buffers > FC_CAMERA_MAXIMUM_BUFFERS ||
		    (!wish->only_still && (wish->video_width == 0 || wish->video_height == 0)))
			return failed(-EINVAL, "a camera needs a video size, a frame rate above 0 and 1 … 64 buffers");
		std::unique_ptr<fc_camera_memory> mapped;
		Failure failure;
		// Small boards may have less memory for cameras than was wished: then fewer buffers, four at least.
		for (unsigned buffers = wish->buffers;; buffers = std::max(4u, buffers / 2)) {
			mapped.reset();
			failure = configure_with(*camera, *wish, buffers, *mode, mapped);
			if (failure.code != -ENOMEM || buffers <= 4)
				break;
		}
		if (failure) {
			forget_configuration(*camera);
			return failure;
		}
		*memory = mapped.release();
		return {};
	});
}

int start(fc_camera *camera, const fc_camera_controls *wish, char *error, size_t error_size) noexcept
{
	return guarded(error, error_size, [&]() -> Failure {
		if (camera->requests.empty())
			return failed(-EINVAL, "a camera must be configured before it starts");
		if (camera->is_running.load(std::memory_order_relaxed))
			return {};
		libcamera::ControlList controls(libcamera::controls::controls);
		fill(controls, *wish, *camera);
		camera->taken.store(camera->written.load());
		camera->is_running.store(true, std::memory_order_release);
		if (int code = camera->camera->start(&controls)) {
			camera->is_running.store(false);
			return failed(code, "the camera '" + camera->camera->id() + "' doesn't start");
		}
		return {};
	});
}

void stop(fc_camera *camera) noexcept
{
	// First the flag: what is cancelled from here on is ours, not the hardware's.
	if (!camera->is_running.exchange(false))
		return;
	try {
		camera->camera->stop();
	} catch (const std::exception &) {
		// Nothing is left to do: the camera is given back by `close`.
	}
	camera->taken.store(camera->written.load());
}

void close_camera(fc_camera *camera) noexcept
{
	stop(camera);
	try {
		camera->camera->requestCompleted.disconnect(camera);
		camera->camera->disconnected.disconnect(camera);
		forget_configuration(*camera);
		camera->camera->release();
		camera->camera.reset();
		shared_manager().leave();
	} catch (const std::exception &) {
		// The camera is lost with its library's state; the process goes on without it.
	}
	delete camera;
}

const char *model(const fc_camera *camera) noexcept { return camera->model.c_str(); }

int sensor_pixels(const fc_camera *camera, uint32_t *width, uint32_t *height) noexcept
{
	*width = *height = 0;
	int is_contiguous = 0;
	guarded(nullptr, 0, [&]() -> Failure {
		if (auto size = camera->camera->properties().get(libcamera::properties::PixelArraySize)) {
			*width = size->width;
			*height = size->height;
		}
		is_contiguous = is_raspberry_pi(camera->camera->controls()) ? 1 : 0;
		return {};
	});
	return is_contiguous;
}

int queue(fc_camera *camera, uint32_t buffer, const fc_camera_controls *controls) noexcept
{
	if (buffer >= camera->requests.size())
		return -EINVAL;
	if (!camera->is_running.load(std::memory_order_acquire))
		return -ESHUTDOWN;
	try {
		Request &request = *camera->requests[buffer];
		// The buffers stay in the request: a pipeline that still walks them finds its list unchanged.
		if (camera->used[buffer])
			request.reuse(Request::ReuseBuffers);
		camera->used[buffer] = true;
		if (controls)
			fill(request.controls(), *controls, *camera);
		return camera->camera->queueRequest(&request);
	} catch (const std::exception &) {
		return -ENOMEM;
	}
}

int take(fc_camera *camera, fc_camera_record *record) noexcept
{
	uint32_t place = camera->taken.load(std::memory_order_relaxed);
	if (place == camera->written.load(std::memory_order_acquire))
		return 0;
	*record = camera->ring[place % fc_camera::capacity];
	camera->taken.store(place + 1, std::memory_order_release);
	return 1;
}

void *image(const fc_camera_memory *memory, uint32_t buffer, uint32_t stream) noexcept
{
	return memory->mappings[size_t(stream) * memory->buffers + buffer].base;
}

void synchronise(const fc_camera_memory *memory, uint32_t buffer, int begin) noexcept
{
	for (size_t index = buffer; index < memory->descriptors.size(); index += memory->buffers) {
		dma_buf_sync bracket{};
		bracket.flags = DMA_BUF_SYNC_READ | uint64_t(begin ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END);
		ioctl(memory->descriptors[index], DMA_BUF_IOCTL_SYNC, &bracket);
	}
}

void unmap(fc_camera_memory *memory) noexcept { delete memory; }

} // namespace

const fc_camera_table *fc_camera_table_of_library(void)
{
	static const fc_camera_table table = {
		FC_CAMERA_TABLE_VERSION, CameraManager::version().c_str(),
		list, open_camera, configure, start, stop, close_camera, model, sensor_pixels, queue, take, image, synchronise, unmap,
	};
	return &table;
}
